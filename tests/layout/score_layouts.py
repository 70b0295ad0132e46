#!/usr/bin/env python3
"""score_layouts.py MSPROF FIRST LAST [--generator FILE] [--folder DIR] [--list]

Generates boards FIRST..LAST, lets `msprof layout --write` find their layouts, imports with what is
certain, and compares the imported rows with the truth, by value. Prints a line per class of board.

exact    every row was read, with the right layer, start and duration
partial  the rows that were read are right, others are missing, and the import says so (exit code 3)
open     nothing certain, or a value is missing (N/A)
WRONG    a row has a wrong value, or rows are missing and the import does not say so
"""
import argparse, collections, glob, json, os, shutil, sqlite3, struct, subprocess, sys, tempfile

KINDS = {'aicore': "SELECT o.layer_id, t.start_ns, t.duration_ns FROM task t JOIN op o ON o.id = t.op_id "
                   "JOIN name n ON n.id = o.unit_name_id WHERE n.text = 'AA_CORE'",
         'aicpu': "SELECT o.layer_id, t.start_ns, t.duration_ns FROM task t JOIN op o ON o.id = t.op_id "
                  "JOIN name n ON n.id = o.unit_name_id WHERE n.text = 'AA_CPU'",
         'acl_api': "SELECT n.text, c.start_ns, c.end_ns - c.start_ns FROM api_call c JOIN name n ON n.id = c.name_id"}


def reference_truth(folder, truth):
    """Rows of a board whose generator gives only the true layout: one aicore file, plain records."""
    fields = truth['fields']
    path = [f for f in glob.glob(os.path.join(folder, truth['job'], 'data', 'aicore.*')) if not f.endswith('.done')][0]
    data = open(path, 'rb').read()
    hz = {'ns': 1e9, 'us': 1e6, 'ticks': truth['freq_mhz'] * 1e6}[truth['unit']]
    get = lambda name, at: struct.unpack_from({'u16': '<H', 'u32': '<I', 'u64': '<Q'}[fields[name]['type']], data, at + fields[name]['offset'])[0]
    rows = []
    for at in range(truth['header_size'], len(data) - truth['record_size'] + 1, truth['record_size']):
        rows.append([get('layer_id', at) - truth['layer_base'], get('start', at) * 1e9 / hz, get('total_cycles', at) * 1e3 / truth['freq_mhz']])
    names = set(fields)
    spans = 'end' if 'end' in names else 'duration' if 'duration' in names else 'cycles alone'
    classes = [f'times: {spans}', 'unit ' + truth['unit']] + (['cut'] if truth['cut'] else []) + (['layer ids from 1'] if truth['layer_base'] else [])
    return {'job': truth['job'], 'rows': {'aicore': rows}, 'decidable': True, 'classes': classes, 'narrow': False, 'relative': False,
            'resolution_ns': 1e9 / hz}


def imported_rows(job, kind):
    stores = glob.glob(os.path.join(job, 'sqlite', '*.db'))
    if not stores:
        return []
    with sqlite3.connect(stores[0]) as store:
        return [list(row) for row in store.execute(KINDS[kind])]


def judge(kind, truth, rows, says_partial):
    want = truth['rows'][kind]
    if not rows:
        return 'open'
    step = max(2, 1.01 * truth['resolution_ns'])
    if any(name in (None, 'N/A') or start is None or duration is None for name, start, duration in rows):
        # What is there must still be right.
        same = lambda is_value, true_value, most: is_value is None or abs(is_value - true_value) <= most
        right = truth['narrow'] or all(any(same(start, t[1], step) and same(duration, t[2], max(2 * step, .003 * t[2])) for t in want)
                                       for _, start, duration in rows)
        return 'open' if right else 'WRONG'
    key = lambda row: (row[1], row[2])
    want, rows = sorted(want, key=key), sorted(rows, key=key)
    shift = 0
    if kind == 'aicore' and truth['narrow'] and not truth['relative']:
        # The time of the first record of a 32-bit clock is only known modulo 2^32.
        turn = 2**32 * truth['resolution_ns']
        shift = round((want[0][1] - rows[0][1]) / turn) * turn
    name_of = {}
    taken, at = 0, 0
    used = [False] * len(want)
    starts = [row[1] for row in want]
    import bisect
    for name, start, duration in rows:
        start += shift
        low = bisect.bisect_left(starts, start - step)
        found = False
        while low < len(want) and starts[low] <= start + step:
            layer, _, ns = want[low]
            same_name = layer == name if kind != 'acl_api' else name_of.setdefault(name, layer) == layer
            if not used[low] and same_name and abs(ns - duration) <= max(2 * step, .003 * ns):
                used[low] = found = True
                break
            low += 1
        if not found:
            return 'WRONG'
    if len(rows) == len(want):
        return 'exact'
    return 'partial' if says_partial else 'WRONG'


def score(msprof, generator, seed, folder):
    subprocess.run([sys.executable, generator, folder, str(seed)], check=True, stdout=subprocess.DEVNULL)
    truth = json.load(open(os.path.join(folder, 'truth.json')))
    if 'rows' not in truth:
        truth = reference_truth(folder, truth)
    job, layout = os.path.join(folder, truth['job']), os.path.join(folder, 'layout.json')
    run = lambda *words: subprocess.run([msprof, *words], capture_output=True, text=True)
    found = run('layout', '-dir', job, '--write', layout)
    if found.returncode not in (0, 3):
        return truth, {kind: f'FAILED {found.returncode} {found.stderr[-300:]}' for kind in truth['rows']}
    done = run('import', '-dir', job, '--layout', layout)
    return truth, {kind: judge(kind, truth, imported_rows(job, kind), done.returncode == 3) for kind in truth['rows']}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('msprof')
    parser.add_argument('first', type=int)
    parser.add_argument('last', type=int)
    parser.add_argument('--generator', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'wide_boards.py'))
    parser.add_argument('--folder', default='/dev/shm')
    parser.add_argument('--list', action='store_true', help='print the boards that are not exact')
    args = parser.parse_args()
    total, by_class = collections.Counter(), collections.defaultdict(collections.Counter)
    for seed in range(args.first, args.last + 1):
        folder = tempfile.mkdtemp(prefix='board', dir=args.folder)
        try:
            truth, verdicts = score(args.msprof, args.generator, seed, folder)
        finally:
            shutil.rmtree(folder)
        for kind, verdict in verdicts.items():
            decided = 'decidable' if truth['decidable'] else 'undecidable'
            total[f'{kind}, {decided}: {verdict}'] += 1
            if kind == 'aicore' and (truth['decidable'] or verdict == 'WRONG'):
                for name in truth['classes']:
                    by_class[name][verdict] += 1
        if args.list and any(v != 'exact' for v in verdicts.values()):
            print(seed, verdicts, '' if truth['decidable'] else '(undecidable)', '; '.join(truth['classes']), flush=True)
    print()
    for name, count in sorted(total.items()):
        print(f'{count:6d}  {name}')
    print('\naicore, decidable boards, and all that are wrong')
    for name, counts in sorted(by_class.items()):
        if not name.startswith(('acl', 'aicpu')):
            print(f'  {name:32s}' + ''.join(f'{counts[v]:6d} {v}' for v in ('exact', 'partial', 'open', 'WRONG')))


if __name__ == '__main__':
    main()
