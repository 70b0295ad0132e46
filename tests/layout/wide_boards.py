#!/usr/bin/env python3
"""wide_boards.py OUT SEED: writes a JOB as a board of unknown make might, and truth.json beside it.

The space is that of docs/internals/layout_method.md, section "Space": every property of a board is
drawn by itself, so that most boards have several unusual ones. Shares no code with msprof.
truth.json has the rows of each kind ([layer or api, start ns, duration ns]), the classes of the
board, and whether the evidence suffices to decide it.
"""
import json, os, random, string, struct, sys, zlib

WIDTH = {'u8': 1, 'u16': 2, 'u32': 4, 'u64': 8}
TYPES = ['Convolution', 'ReLU', 'Eltwise', 'Pooling', 'Softmax', 'Concat', 'InnerProduct']


class Record:
    """Fields at offsets of a record; everything else is filler."""

    def __init__(self, rnd, fields, packed, most, pad):
        fields = fields[:]
        rnd.shuffle(fields)
        self.place, at = {}, 0
        for name, kind in fields:
            size = WIDTH[kind]
            if not packed:
                at = -(-at // size) * size
            if rnd.random() < .12:
                at += size * rnd.randint(1, 2)
            self.place[name] = (at, kind)
            at += size
        step = 1 if packed else 8
        self.size = -(-at // step) * step
        if rnd.random() < .1:
            self.size = min(most, self.size + step * rnd.randint(1, 40))
        self.size = max(self.size, at)
        self.pad = bytes(rnd.getrandbits(8) for _ in range(self.size)) if pad == 'fixed' else None
        self.garbage = pad == 'garbage'

    def pack(self, rnd, values, checksum=None):
        if self.garbage:
            data = bytearray(rnd.randbytes(self.size))
        else:
            data = bytearray(self.pad or bytes(self.size))
        for name, (at, kind) in self.place.items():
            value = values.get(name, 0) & ((1 << 8 * WIDTH[kind]) - 1)
            data[at:at + WIDTH[kind]] = value.to_bytes(WIDTH[kind], 'little')
        if checksum:
            at, kind = self.place[checksum]
            data[at:at + WIDTH[kind]] = bytes(WIDTH[kind])
            total = sum(data) if WIDTH[kind] == 1 else zlib.crc32(bytes(data))
            data[at:at + WIDTH[kind]] = (total & ((1 << 8 * WIDTH[kind]) - 1)).to_bytes(WIDTH[kind], 'little')
        return bytes(data)


class Board:
    def __init__(self, out, seed):
        self.out, self.r = out, random.Random(f'wide{seed}')
        r = self.r
        self.classes = []
        self.decidable = True
        name = 'JOB' + ''.join(r.choice(string.ascii_uppercase) for _ in range(29))
        self.job = os.path.join(out, name)
        self.data = os.path.join(self.job, 'data')
        os.makedirs(self.data)
        self.model, self.mid = r.choice(['yolo', 'net.5', 'kws-610', 'a']), r.randint(0, 40)
        self.batch = r.choice([1, 1, 1, 4])

    def pick(self, name, probability):
        hit = self.r.random() < probability
        if hit:
            self.classes.append(name)
        return hit

    # Clock and cores.
    def draw_clock(self):
        r = self.r
        self.core_mhz = r.choice([400, 500, 600, 700, 750, 800, 840, 900, 1000, 1200])
        named = self.core_mhz
        self.has_frequency = True
        if self.pick('no frequency', .07):
            named, self.has_frequency = None, False
        elif self.pick('wrong frequency', .07):
            named = r.choice([m for m in [400, 500, 600, 800, 840, 900, 1000, 1100] if m != self.core_mhz])
        self.true_frequency = named == self.core_mhz
        with open(os.path.join(self.job, 'info.json.0'), 'w') as f:
            f.write('{"DeviceInfo": [{"aic_frequency": "%d"}]}' % named if named else '{"DeviceInfo": [{"soc_version": "V200"}]}')
        self.unit = r.choice(['ns', 'ns', 'us', 'us', 'tick', 'tick', 'core'])
        ticks = r.choice([24e6, 25e6, 19.2e6, 50e6, 100e6, 48e6])
        self.hz = {'ns': 1e9, 'us': 1e6, 'tick': ticks, 'core': self.core_mhz * 1e6}[self.unit]
        self.done_unit = r.choice(['us', 'us', 'us', 'ns', 'raw'])
        self.has_done = not self.pick('no .done', .12)
        self.other_clock = self.pick('.done of another clock', .06) if self.has_done else False
        self.uptime = r.randint(20 * 10**9, 10**15)

    def ticks(self, ns):
        return int(ns * self.hz / 1e9 + 1e-6)

    def ns(self, ticks):
        return ticks * 1e9 / self.hz

    # Model.
    def draw_model(self):
        r = self.r
        self.n = r.randint(6, 45)
        self.has_cpu = self.pick('cpu layers', .25)
        self.layers = [(i, r.choice(TYPES), self.has_cpu and i > self.n // 2 and r.random() < .15) for i in range(self.n)]
        lines, at, self.line_at = '#msprof-layers 1\n', 0, {}
        for i, kind, cpu in self.layers:
            self.line_at[i] = len(lines)
            lines += f'{i}\t0\t{kind}\t{"AA_CPU" if cpu else "AA_CORE"}\t{kind.lower()}_{i}\t{kind.lower()}_{i}\n'
        stem = os.path.join(self.data, f'{self.model}.{self.mid}')
        with open(stem + '.layer.info', 'w') as f:
            f.write(lines)
        with open(stem + '.net.info', 'w') as f:
            f.write(f'#msprof-net 1\nmodel_name:{self.model}\nmodel_id:{self.mid}\nnet_id:0\nnet_type:CNN\nbatch_num:{self.batch}\nlayer_num:{self.n}\n')
        core = [i for i, _, cpu in self.layers if not cpu]
        self.order = core[:]
        if self.pick('layers without records', .15):
            gone = set(r.sample(core, max(1, len(core) // r.randint(5, 12))))
            self.order = [i for i in core if i not in gone]
        if self.pick('layers twice', .12):
            for _ in range(r.randint(1, 3)):
                at = r.randrange(len(self.order))
                self.order.insert(at, self.order[at])
        self.loop = None
        if self.pick('loop', .08):
            a = r.randrange(len(self.order) - 3)
            b = a + r.randint(2, 3)
            self.loop = (a, b, r.choice([None, r.randint(2, 4)]))
            if self.loop[2] is None:
                self.classes.append('loop of varying length')
        self.executions = r.randint(20, 60)
        self.mean = {i: int(r.lognormvariate(0, 1) * 40000) + 3000 for i in range(self.n)}
        self.jitter = r.choice([.003, .02, .05])

    def sequence(self):
        if not self.loop:
            return self.order
        a, b, times = self.loop
        times = times or self.r.randint(1, 4)
        return self.order[:a] + self.order[a:b] * times + self.order[b:]

    def run(self):
        """Executions: lists of (layer, core, start ns, duration ns, cycles) in the order of their ends."""
        r = self.r
        self.cores = r.choice([2, 2, 3, 4]) if self.pick('several cores', .15) else 1
        split = self.cores > 1 and r.random() < .5  # each layer on all cores; else an execution a core
        pause = r.choice([(10**5, 10**7), (10**4, 10**5), (10**6, 10**8)])
        gap = r.choice([(50, 3000), (20, 300), (1000, 8000)])
        self.runs, t, free = [], self.uptime, [self.uptime] * self.cores
        for e in range(self.executions):
            rows = []
            core = 0 if split or self.cores == 1 else e % self.cores
            if self.cores > 1 and not split:
                t = free[core]
            begin = t
            for i in self.sequence():
                ends = []
                for c in range(self.cores) if split else [core]:
                    cycles = max(200, int(self.mean[i] * self.core_mhz / 1000 * r.gauss(1, self.jitter)))
                    at = t + (r.randint(0, 500) if split else 0)
                    ns = cycles * 1000 / self.core_mhz
                    rows.append((i, c, at, ns, cycles, e, begin))
                    ends.append(at + ns)
                t = int(max(ends)) + r.randint(*gap)
            self.runs.append(rows)
            free[core] = t + r.randint(*pause)
            t += r.randint(*pause)
        self.end = max(x[2] + x[3] for rows in self.runs for x in rows)

    def done(self, path, length, first, last, whole):
        if not self.has_done:
            return
        r = self.r
        unit = {'us': 1e6, 'ns': 1e9, 'raw': self.hz}[self.done_unit]
        first -= r.randint(1000, 3 * 10**6)
        last += r.randint(1000, 3 * 10**6)
        if self.other_clock:
            shift = r.randint(10**15, 10**18)
            first, last = first + shift, last + shift
        file_len = whole if r.random() < .5 else length
        with open(path + '.done', 'w') as f:
            f.write(f'file_len:{file_len}\nstart_time:{int(first * unit / 1e9)}\nend_time:{int(last * unit / 1e9)}\ncache_hit:1000\ncache_mis:10\n')

    # Records of the cores.
    def draw_core_record(self):
        r = self.r
        self.id_mode = r.choices(['plain', 'from 1', 'offset', 'hash'], [70, 14, 8, 8])[0]
        if self.id_mode != 'plain':
            self.classes.append('layer ids ' + self.id_mode)
        id_type = r.choice(['u16', 'u32', 'u32'])
        if self.id_mode == 'hash':
            id_type = 'u32'
        elif self.pick('layer ids of 8 bits', .1):
            if self.id_mode == 'offset':
                self.id_mode = 'plain'
                self.classes.remove('layer ids offset')
            id_type = 'u8'
        self.hash_of = {i: zlib.crc32(f'{k.lower()}_{i}'.encode()) for i, k, _ in self.layers}
        self.spans = r.choices(['end', 'end+cycles', 'duration', 'duration+cycles', 'cycles'], [12, 40, 14, 16, 18])[0]
        self.classes.append('times: start+' + self.spans)
        self.relative = self.pick('relative times', .07)
        self.narrow = self.pick('32-bit times', .15) or (self.relative and r.random() < .7)
        time = 'u32' if self.narrow else 'u64'
        self.pairs = self.pick('begin and end apart', .08) and self.spans.startswith('end')
        if 'begin and end apart' in self.classes and not self.pairs:
            self.classes.remove('begin and end apart')
        fields = [('layer', id_type), ('start', time)]
        if self.spans.startswith('end') and not self.pairs:
            fields.append(('end', time))
        if self.spans.startswith('duration'):
            fields.append(('duration', r.choice(['u32', 'u64'])))
        if 'cycles' in self.spans:
            fields.append(('total', r.choice(['u32', 'u64'])))
        self.units = r.randint(2, 9)
        self.unit_form = r.choice(['cycles', 'cycles', 'count', 'mille'])
        fields += [(f'unit{k}', r.choice(['u16' if self.unit_form == 'mille' else 'u32', 'u32', 'u64'])) for k in range(self.units)]
        self.bytes = r.randint(0, 2)
        fields += [(f'bytes{k}', r.choice(['u32', 'u64'])) for k in range(self.bytes)]
        self.decoys = r.randint(0, 4)
        fields += [(f'decoy{k}', r.choice(['u8', 'u16', 'u32', 'u64'])) for k in range(self.decoys)]
        if self.cores > 1:
            fields.append(('core', r.choice(['u8', 'u16', 'u32'])))
        if r.random() < .4:
            fields.append(('execution', r.choice(['u16', 'u32'])))
        if r.random() < .25:
            fields.append(('index', r.choice(['u16', 'u32'])))
        self.tagged = self.pick('record types', .12) and not self.pairs
        if 'record types' in self.classes and not self.tagged:
            self.classes.remove('record types')
        if self.tagged or self.pairs:
            fields.append(('tag', r.choice(['u8', 'u16', 'u32'])))
        self.checksum = None
        if self.pick('checksum', .1):
            self.checksum = 'check'
            fields.append(('check', r.choice(['u8', 'u32'])))
        packed = self.pick('unaligned', .2)
        pad = r.choices(['zero', 'garbage', 'fixed'], [60, 25, 15])[0]
        if pad != 'zero':
            self.classes.append('padding ' + pad)
        self.record = Record(r, fields, packed, 512, pad)
        self.kinds = dict(fields)
        self.tags = r.sample(range(1, 200), 3)
        self.share = {(k, i): 0 if r.random() < .2 else r.random() for k in range(self.units) for i in range(self.n)}
        self.byte_count = {(k, i): r.randint(1000, 10**7) for k in range(self.bytes) for i in range(self.n)}
        self.decoy = {f'decoy{k}': (r.choice(['const', 'random', 'count', 'zero']), r.getrandbits(30)) for k in range(self.decoys)}

    def layer_number(self, i):
        return {'plain': i, 'from 1': i + 1, 'offset': self.line_at[i], 'hash': self.hash_of[i]}[self.id_mode]

    def core_values(self, row, count, index):
        i, core, at, ns, cycles, e, begin = row
        r = self.r
        base = self.ticks(begin) if self.relative else 0
        start, end = self.ticks(at) - base, self.ticks(at + ns) - base
        v = {'layer': self.layer_number(i), 'start': start, 'end': end, 'duration': self.ticks(ns), 'total': cycles,
             'core': core, 'execution': e, 'index': index, 'tag': self.tags[0]}
        for k in range(self.units):
            part = self.share[(k, i)] * r.uniform(.9, 1)
            v[f'unit{k}'] = int({'cycles': cycles, 'count': cycles / 16, 'mille': 1000}[self.unit_form] * part)
        for k in range(self.bytes):
            v[f'bytes{k}'] = self.byte_count[(k, i)]
        for name, (form, value) in self.decoy.items():
            v[name] = {'const': value, 'random': r.getrandbits(64), 'count': count, 'zero': 0}[form]
        return v

    def row_of(self, row, v):
        """What a reader can know of a record, in ns."""
        i, core, at, ns, cycles, e, begin = row
        start = self.ns(v['start'])
        if 'cycles' in self.spans:
            ns = cycles * 1000 / self.core_mhz
        elif self.spans == 'end':
            ns = self.ns(v['end'] - v['start'])
        else:
            ns = self.ns(v['duration'])
        return [i, start, ns]

    def write_core(self):
        r = self.r
        one_file = not self.pick('a file an execution', .12)
        header = r.choice([0, 0, 8, 16, 20, 32, 64, 100]) if not self.pick('header of an odd size', .05) else r.randint(1, 90)
        per_execution = self.pick('headers of executions', .12) if one_file else False
        varying = self.loop is not None and self.loop[2] is None
        inner = r.choice([4, 8, 12, 16, 24, 32, 40, 77]) if per_execution else 0
        magic = r.getrandbits(32)
        count_at = r.choice([0, 4]) if inner >= 8 else 0
        cut = self.pick('cut', .15)
        head = lambda: r.randbytes(header)
        rows, count, body, files = [], 0, b'', []
        self.relative_ok = True
        for e, run in enumerate(self.runs):
            part = b''
            events = []
            for index, row in enumerate(run):
                v = self.core_values(row, count, index)
                if self.pairs:
                    first = dict(v, tag=self.tags[0], total=0)
                    last = dict(v, tag=self.tags[1], start=v['end'])
                    for k in range(self.units):
                        first[f'unit{k}'] = 0
                    events += [(row[2], first, None), (row[2] + row[3], last, self.row_of(row, v))]
                else:
                    events.append((row[2], v, self.row_of(row, v)))
                count += 1
            if self.cores > 1:
                events.sort(key=lambda x: x[0])
            for at, v, truth in events:
                if self.tagged and r.random() < .2:
                    other = {name: r.getrandbits(8 * WIDTH[kind]) for name, (_, kind) in self.record.place.items()}
                    other.update(tag=self.tags[r.choice([1, 2])])
                    if 'core' in self.record.place:
                        other['core'] = r.randrange(self.cores)
                    other.update(execution=e)
                    part += self.record.pack(r, other, self.checksum)
                part += self.record.pack(r, v, self.checksum)
                rows.append((len(body) + len(part) + (header if one_file else 0), e, truth))
            if inner:
                title = bytearray(r.randbytes(inner))
                if inner >= 12:
                    struct.pack_into('<II', title, 4 - count_at, magic, 0)
                if inner >= 8:
                    struct.pack_into('<I', title, count_at, len(part) // self.record.size)
                part = bytes(title) + part
                rows = [(end + (inner if x == e else 0), x, truth) for end, x, truth in rows]
            if one_file:
                body += part
            else:
                files.append((e, head() + part, run))
        name = lambda pic: os.path.join(self.data, f'aicore.0.{self.model}.{self.mid}.0.{self.batch}.1.{pic}')
        if one_file:
            # An application with several cores writes what each execution recorded, one after the other.
            body = head() + body
            whole = len(body)
            if cut:
                body = body[:-r.randint(1, self.record.size - 1)]
                rows = [x for x in rows if x[0] <= len(body)]
            files = [(0, body, None)]
            with open(name(0), 'wb') as f:
                f.write(body)
            self.done(name(0), len(body), self.uptime, self.end, whole)
        else:
            last = files[-1][0]
            for e, data, run in files:
                whole = len(data)
                if cut and e == last:
                    data = data[:-r.randint(1, self.record.size - 1)]
                    mine = [x for x in rows if x[1] == e]
                    lost = mine[-1] if not self.pairs or mine[-1][2] else None
                    if lost:
                        rows.remove(lost)
                with open(name(e * self.batch), 'wb') as f:
                    f.write(data)
                self.done(name(e * self.batch), len(data), run[0][2], max(x[2] + x[3] for x in run), whole)
        self.core_rows = [truth for _, _, truth in rows if truth]
        self.layout = {'header': header, 'execution_header': inner, 'record': self.record.size, 'fields': {k: list(v) for k, v in self.record.place.items()},
                       'unit': self.unit, 'hz': self.hz, 'core_mhz': self.core_mhz, 'tags': self.tags, 'cut': cut, 'cores': self.cores}
        self.judge_core(varying and inner > 0)

    def judge_core(self, varying_blocks):
        """Clears `decidable` where the evidence allows readings with other values."""
        clock_known = self.has_done and not self.other_clock and not self.relative
        ticks_by_cycles = 'cycles' in self.spans and self.true_frequency
        # us and ns are simple numbers of cycles; other rates need a second witness.
        # Equal numbers in .done and in the records say nothing about their unit.
        same_unit = self.done_unit in ('raw', self.unit)
        unit_known = clock_known and not same_unit or ticks_by_cycles
        if clock_known and self.unit in ('us', 'ns') and 'cycles' in self.spans:
            unit_known = True  # by the magnitude
        if self.spans == 'cycles' and not self.true_frequency:
            unit_known = False
        if self.unit == 'core' and not self.true_frequency:
            unit_known = False
        if self.narrow and not self.relative and not ticks_by_cycles:
            unit_known = False  # the time of the file's start is not known
        if self.narrow and self.hz >= 4e8 and not self.relative and any(
                b[0][2] - a[-1][2] > 3e9 for a, b in zip(self.runs, self.runs[1:])):
            self.decidable = False  # the clock may wrap unseen
        if not unit_known:
            self.classes.append('unit undecided')
            self.decidable = False
        seen = {self.layer_number(i) for i in self.order}
        core = [i for i, _, cpu in self.layers if not cpu]
        if self.id_mode == 'from 1' and max(seen) <= max(core) and min(seen) > 0:
            self.decidable = False
        if self.id_mode in ('offset', 'hash') and self.id_mode == 'hash' and len(set(self.order)) < len(core):
            self.decidable = False
        if self.id_mode == 'plain' and min(seen) > 0 and {i + 1 for i in core} >= seen:
            self.decidable = False
        if self.relative and self.cores > 1:
            self.decidable = False

    # Calls and CPU operators.
    def write_small(self, kind, path, rows, ids, first_extra=()):
        """rows: [id, start ns, end ns, thread]"""
        r = self.r
        form = r.choices(['end', 'duration'], [65, 35])[0]
        self.classes.append(f'{kind}: start+{form}')
        fields = [('id', r.choice(['u16', 'u32', 'u32'])), ('start', 'u64'), (form, 'u64' if form == 'end' else r.choice(['u32', 'u64']))]
        if r.random() < .5:
            fields.append(('thread', 'u32'))
        for k in range(r.randint(0, 2)):
            fields.append((f'decoy{k}', r.choice(['u32', 'u64'])))
        record = Record(r, fields, r.random() < .1, 256, 'zero')
        decoy = {f'decoy{k}': (r.choice(['const', 'random', 'count', 'zero']), r.getrandbits(30)) for k in range(2)}
        header = r.choice([0, 0, 16, 32])
        body, truth = r.randbytes(header), []
        for count, (number, start, end, thread) in enumerate(rows):
            a, b = self.ticks(start), self.ticks(end)
            v = {'id': number, 'start': a, 'end': b, 'duration': b - a, 'thread': thread}
            for name, (way, value) in decoy.items():
                v[name] = {'const': value, 'random': r.getrandbits(64), 'count': count, 'zero': 0}[way]
            body += record.pack(r, v)
            truth.append([ids[count], self.ns(a), self.ns(b - a)])
        with open(path, 'wb') as f:
            f.write(body)
        self.done(path, len(body), rows[0][1], rows[-1][2], len(body))
        return truth, {'header': header, 'record': record.size, 'fields': {k: list(v) for k, v in record.place.items()}}

    def write_calls(self):
        r = self.r
        numbers = dict(zip(['load', 'execute', 'unload', 'sync'], r.sample(range(1, 40), 4)))
        thread = r.randint(300, 30000)
        first = self.runs[0][0][2]
        rows = [[numbers['load'], first - r.randint(10**7, 10**8), first - r.randint(10**5, 9 * 10**6), thread]]
        extra = r.random() < .3
        runs = sorted(self.runs, key=lambda x: x[0][2])[:508]
        for k, run in enumerate(runs):
            begin, end = run[0][2], max(x[2] + x[3] for x in run)
            room = (runs[k + 1][0][2] - end) / 4 if k + 1 < len(runs) else 10**6
            room = max(200, min(room, 10**5))
            end = int(end + r.uniform(.1, 1) * room)
            rows.append([numbers['execute'], begin - r.randint(100, int(room)), end, thread])
            if extra:
                rows.append([numbers['sync'], end + 20, end + 20 + r.randint(10, max(11, int(room))), thread])
        rows.append([numbers['unload'], int(self.end) + 10**6, int(self.end) + 10**6 + r.randint(10**5, 10**7), thread])
        ids = [row[0] for row in rows]
        path = os.path.join(self.data, f'acl_api.0.{self.model}.{self.mid}')
        return self.write_small('acl_api', path, rows, ids)

    def write_cpu(self):
        r = self.r
        cpu = [i for i, _, on_cpu in self.layers if on_cpu]
        rows, thread = [], r.randint(300, 30000)
        for run in self.runs:
            t = int(max(x[2] + x[3] for x in run)) + 100
            for i in cpu:
                ns = int(self.mean[i] * r.gauss(1, .05)) + 1000
                rows.append([i, t, t + ns, thread])
                t += ns + r.randint(50, 3000)
        path = os.path.join(self.data, f'aicpu.0.{self.model}.{self.mid}.0.{self.batch}.1.0')
        return self.write_small('aicpu', path, rows, [row[0] for row in rows])

    def write(self):
        self.draw_clock()
        self.draw_model()
        self.run()
        self.draw_core_record()
        self.write_core()
        truth = {'job': os.path.basename(self.job), 'rows': {'aicore': self.core_rows}, 'layout': {'aicore': self.layout}}
        truth['narrow'], truth['relative'] = self.narrow, self.relative
        truth['resolution_ns'] = 1e9 / self.hz
        if self.pick('acl_api', .4):
            truth['rows']['acl_api'], truth['layout']['acl_api'] = self.write_calls()
        if any(cpu for _, _, cpu in self.layers):
            truth['rows']['aicpu'], truth['layout']['aicpu'] = self.write_cpu()
        truth['classes'], truth['decidable'] = self.classes, self.decidable
        with open(os.path.join(self.out, 'truth.json'), 'w') as f:
            json.dump(truth, f)
        return self.job


if __name__ == '__main__':
    print(Board(sys.argv[1], int(sys.argv[2])).write())
