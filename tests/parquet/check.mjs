// check.mjs DATA SMALL ODD TRUTH MANUAL: checks what DuckDB, ClickHouse and hyparquet read from our
// files.
//   DATA    a data set written by msprof, of the ranks in TRUTH: TRUTH/<rank>.json
//   SMALL   rank 0 again, in small row groups and pages
//   ODD     the file of make_parquet odd
//   MANUAL  the page with the questions, to which DuckDB and ClickHouse must give the same answers
// Prints what was checked and what was not; exit code 1 unless everything was checked and correct.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { makers, tables } from "./readers.mjs";

const [data, small, odd, truth, manual] = process.argv.slice(2);
let failures = 0;
let checks = 0;
const fail = (what) => {
  failures += 1;
  console.error(`FAILED: ${what}`);
};

// Compares rows with the expected ones; prints the first difference.
function compare(what, got, expected) {
  checks += 1;
  if (JSON.stringify(got.columns) !== JSON.stringify(expected.columns)) {
    fail(`${what}: columns ${got.columns} instead of ${expected.columns}`);
    return;
  }
  if (got.rows.length !== expected.rows.length) {
    fail(`${what}: ${got.rows.length} rows instead of ${expected.rows.length}`);
    return;
  }
  for (let row = 0; row < got.rows.length; row += 1) {
    const a = JSON.stringify(got.rows[row]);
    const b = JSON.stringify(expected.rows[row]);
    if (a !== b) {
      fail(`${what}: row ${row} is ${a} instead of ${b}`);
      return;
    }
  }
  console.log(`${what}: ${got.rows.length} rows`);
}

// The cells of make_parquet odd.
function oddRows() {
  const extremes = ["9223372036854775807", "-9223372036854775807", "0", null, "-1"];
  const texts = ["", "a\0b", "\u5377", "quote\"'\n\\", null];
  const rows = [];
  for (let row = 0; row < 200003; row += 1) {
    const key = row < 100000 ? row % 90000 : row % 6;
    rows.push([
      String(row),
      row < 50 ? extremes[row % 5] : String(row * 1000003),
      row % 7 === 3 ? null : String((row * 7919) % 90001),
      null,
      key < 5 ? texts[key] : `text ${key}`,
    ]);
  }
  return { columns: ["id", "wide", "few", "none", "text"], rows };
}

function fileOf(dir, table, rank) {
  const folder = path.join(dir, table, rank < 0 ? "rank=-1" : `rank=${String(rank).padStart(5, "0")}`);
  const names = readdirSync(folder);
  if (names.length !== 1 || !names[0].endsWith(".parquet")) fail(`${folder} has ${names}`);
  return path.join(folder, names[0]);
}

// The SQL of the manual: the views of each engine, and the questions, which are the same for both.
function questionsOf(page) {
  const blocks = [...readFileSync(page, "utf8").matchAll(/```sql\n([\s\S]*?)```/g)].map((m) => m[1]);
  const statements = (block) =>
    block.split(/;[^\n]*\n/).map((s) => s.replace(/^--.*\n/gm, "").trim()).filter((s) => s !== "");
  const viewsFor = (word) => statements(blocks.find((block) => block.includes(word)) ?? "");
  const comments = blocks.find((block) => block.startsWith("-- Which")) ?? "";
  return {
    views: { DuckDB: viewsFor("read_parquet("), ClickHouse: viewsFor("file(") },
    questions: statements(comments),
  };
}

// Whether numbers are equal, up to the rounding of sums of doubles in another order.
function alike(a, b) {
  if (a === b) return true;
  const [x, y] = [Number(a), Number(b)];
  return a !== null && b !== null && Math.abs(x - y) <= 1e-9 * Math.max(Math.abs(x), Math.abs(y));
}

async function ask(readers) {
  const { views, questions } = questionsOf(manual);
  if (questions.length < 10) fail(`${manual} has ${questions.length} questions instead of 10`);
  for (const [number, sql] of questions.entries()) {
    const what = `question ${number + 1}`;
    const answers = {};
    for (const name of ["DuckDB", "ClickHouse"]) {
      if (!readers[name]) continue;
      if (views[name].length !== tables.length) fail(`${manual}: views for ${name}`);
      try {
        answers[name] = await readers[name].ask(data, sql, views[name]);
        checks += 1;
        if (answers[name].rows.length === 0) fail(`${what}: ${name} has no answer`);
      } catch (error) {
        fail(`${what}: ${name}: ${error.message}`);
      }
    }
    const { DuckDB: a, ClickHouse: b } = answers;
    if (!a || !b) continue;
    const same = a.rows.length === b.rows.length &&
      a.rows.every((row, i) => row.every((cell, j) => alike(cell, b.rows[i][j])));
    if (same) {
      console.log(`${what}: ${a.rows.length} rows, alike`);
    } else {
      fail(`${what}: DuckDB says ${JSON.stringify(a.rows)}, ClickHouse ${JSON.stringify(b.rows)}`);
    }
  }
}

const readers = {};
for (const [name, make] of Object.entries(makers)) {
  try {
    readers[name] = await make();
  } catch (error) {
    fail(`${name} is NOT CHECKED: ${error.message}`);
  }
}
const ranks = readdirSync(truth).map((name) => Number(path.basename(name, ".json")));
for (const [name, reader] of Object.entries(readers)) {
  try {
    for (const rank of ranks) {
      const expected = JSON.parse(readFileSync(path.join(truth, `${rank}.json`), "utf8"));
      for (const table of tables) {
        compare(`${name}, rank ${rank}, ${table}`, await reader.rows(fileOf(data, table, rank)),
          expected[table]);
        if (rank !== 0) continue;
        compare(`${name}, small row groups, ${table}`, await reader.rows(fileOf(small, table, 0)),
          expected[table]);
      }
    }
    compare(`${name}, odd values`, await reader.rows(odd), oddRows());
  } catch (error) {
    fail(`${name}: ${error.stack}`);
  }
}
await ask(readers);
console.log(`${checks} checks, ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
