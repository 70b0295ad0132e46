"""Prints what a Python script says about profiling, as JSON. Parses the script, never runs it.

Each fact is [line, column, kind, name, value, places]. Kinds: "name" for name=value and
x.name=value, "key" for x["name"]=value and {"name": value}, "call" for name(…). A value is a
constant, or 0 if it is known only when the script runs. places has [line, column] of each
character of a text. Lines and columns count from 1.
"""
import ast
import io
import json
import re
import sys
import tokenize

NAMES = {"profiling_options", "enable_profiling"}
KEYS = NAMES | {"profiling_mode", "ge.exec.profilingOptions", "ge.exec.profilingMode"}
# Functions that leave a text unchanged for our purpose.
CONVERSIONS = {"as_bytes", "as_text", "as_str", "bytes", "str", "b"}
MAX_DEPTH = 30  # of variables and calls; typical scripts have up to five levels
MAX_TERMS = 10_000  # per value
MAX_CHARACTERS = 1 << 16  # per value
MAX_ALL_CHARACTERS = 1 << 18  # of all values of a script
MAX_FACTS = 1000
UNIT = re.compile(r"\\(?:[0-7]{1,3}|x..|u.{4}|U.{8}|N\{[^}]*\}|.)|.", re.DOTALL)
BYTES_UNIT = re.compile(r"\\(?:[0-7]{1,3}|x..|.)|.", re.DOTALL)
LITERAL = re.compile(r"(\w*)('''|\"\"\"|'|\")(.*)\2", re.DOTALL)


class Unknown(Exception):
    pass


def constant(node):
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ()


def last_name(node):
    return getattr(node, "attr", getattr(node, "id", None))


class Script:
    def __init__(self, data):
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        text = io.TextIOWrapper(io.BytesIO(data), encoding).read()
        self.tree = ast.parse(text)
        self.lines = text.split("\n")
        self.tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline)
                       if token.type not in (tokenize.NL, tokenize.COMMENT)]
        self.token_at = {token.start: i for i, token in enumerate(self.tokens)}
        self.assigned = {}  # values by name, with their places
        self.facts = []
        self.terms = 0
        self.characters_left = MAX_ALL_CHARACTERS

    def place(self, node):
        line = self.lines[node.lineno - 1].encode()
        return node.lineno, len(line[:node.col_offset].decode(errors="replace"))

    def characters(self, token):
        """Characters of a literal, each with its place."""
        prefix, quotes, body = LITERAL.fullmatch(token.string).groups()
        line, column = token.start
        column += len(prefix + quotes) + 1
        for unit in (BYTES_UNIT if "b" in prefix.lower() else UNIT).findall(body):
            self.characters_left -= 1
            if self.characters_left < 0:
                raise Unknown
            value = unit
            if unit[0] == "\\" and "r" not in prefix.lower():
                value = constant(prefix + "'" + unit + "'")
                if value == ():
                    raise Unknown
            if isinstance(value, bytes):
                value = value.decode("latin-1")
            yield from ((character, line, column) for character in value)
            column += len(unit)
            if "\n" in unit:
                line, column = line + 1, 1

    def text(self, node, depth=0):
        """Characters of a constant text, with their places: literals, sums, conversions, variables."""
        parts = [node]
        while isinstance(parts[-1], ast.BinOp) and isinstance(parts[-1].op, ast.Add):
            parts[-1:] = [parts[-1].right, parts[-1].left]
        found = []
        for part in reversed(parts):
            found += self.term(part, depth)
            if len(found) > MAX_CHARACTERS:
                raise Unknown
        return found

    def term(self, node, depth):
        self.terms += 1
        if depth > MAX_DEPTH or self.terms > MAX_TERMS:
            raise Unknown
        if isinstance(constant(node), (str, bytes)):
            found = []
            for token in self.tokens[self.token_at.get(self.place(node), len(self.tokens)):]:
                if token.type != tokenize.STRING:
                    return found
                found += self.characters(token)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.text(node, depth + 1)
        if isinstance(node, ast.Call) and node.args and last_name(node.func) in CONVERSIONS:
            return self.text(node.args[0], depth + 1)
        if isinstance(node, ast.Call) and last_name(node.func) == "encode":
            return self.text(getattr(node.func, "value", node), depth + 1)
        if isinstance(node, ast.Name):
            here = self.place(node)
            values = [value for place, value in self.assigned.get(node.id, ()) if place < here]
            if values:
                return self.text(values[-1], depth + 1)
        raise Unknown

    def add(self, kind, name, at, node=None):
        if len(self.facts) >= MAX_FACTS:
            return
        value, places = constant(node) if node else None, []
        if not isinstance(value, (bool, type(None))):
            self.terms = 0
            try:
                found = self.text(node)
                value = "".join(character for character, _, _ in found).encode(errors="replace").decode()
                places = [place for _, *place in found]
            except Unknown:
                value = 0
        line, column = self.place(at)
        self.facts.append([line, column + 1, kind, name, value, places])

    def add_assignment(self, target, value):
        if last_name(target) in NAMES:
            self.add("name", last_name(target), target, value)
        while isinstance(target, ast.Attribute):
            target = target.value
        if isinstance(target, ast.Subscript):
            # Before Python 3.9 there is an Index around the key.
            key = getattr(target.slice, "value", None)
            self.add_key(key if isinstance(key, ast.AST) else target.slice, value)

    def add_key(self, key, value):
        name = constant(key) if key else None
        if isinstance(name, str) and name in KEYS:
            self.add("key", name, key, value)

    def add_call(self, call):
        name = last_name(call.func)
        of = last_name(getattr(call.func, "value", None))
        for keyword in call.keywords:
            if keyword.arg in NAMES:
                self.add("name", keyword.arg, keyword if hasattr(keyword, "lineno") else call, keyword.value)
        if name == "ProfilingConfig" and call.args:
            self.add("name", name, call, call.args[0])
            if len(call.args) > 1:
                self.add("name", "profiling_options", call, call.args[1])
        if name == "NPURunConfig":
            has_stars = any(isinstance(each, ast.Starred) for each in call.args)
            if not has_stars and not any(each.arg in (None, "profiling_config") for each in call.keywords):
                self.add("call", name, call)
        if (of, name) == ("acl", "init") and call.args:
            self.add("call", "acl.init", call, call.args[0])
        if (of, name) == ("profiler", "Profiler"):
            self.add("call", "profiler.Profiler", call)

    @staticmethod
    def defaults(arguments):
        """Pairs of parameter and default."""
        positional = getattr(arguments, "posonlyargs", []) + arguments.args
        pairs = list(zip(reversed(positional), reversed(arguments.defaults)))
        return pairs + [pair for pair in zip(arguments.kwonlyargs, arguments.kw_defaults) if pair[1]]

    def find(self):
        nodes = list(ast.walk(self.tree))
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                values = self.assigned.setdefault(node.targets[0].id, [])
                values.append((self.place(node.value), node.value))
        for values in self.assigned.values():
            values.sort(key=lambda each: each[0])
        for node in nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self.add_assignment(target, node.value)
            elif isinstance(node, ast.AnnAssign) and node.value:
                self.add_assignment(node.target, node.value)
            elif isinstance(node, ast.arguments):
                for argument, value in self.defaults(node):
                    if argument.arg in NAMES:
                        self.add("name", argument.arg, argument, value)
            elif isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values):
                    self.add_key(key, value)
            elif isinstance(node, ast.Call):
                self.add_call(node)
        return sorted(self.facts, key=lambda fact: fact[:2])


if sys.version_info < (3, 8):
    # Older ones do not know where a text of several lines begins.
    sys.exit("python3 is older than 3.8")
try:
    with open(sys.argv[1], "rb") as file:
        print(json.dumps(Script(file.read()).find()))
except SyntaxError as error:
    sys.exit(f"line {error.lineno}: {error.msg}")
except (ValueError, LookupError, OSError, MemoryError, RecursionError, tokenize.TokenError) as error:
    sys.exit(str(error) or type(error).__name__)
