// The Parquet readers with which files are checked. Each has
//   rows(file)       {columns, rows}: cells of one file, in its order, as text or null
//   ask(data, sql)   the same for SQL over the four tables of a data set; hyparquet has no SQL
// A reader is imported when it is made, so that a missing one does not hide the others.

const text = (value) => (value === null || value === undefined ? null : String(value));
export const tables = ["tasks", "calls", "collectives", "ops"];

async function duckdb() {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  const run = async (sql) => {
    const result = await connection.runAndReadAll(sql);
    return { columns: result.columnNames(), rows: result.getRowsJS().map((row) => row.map(text)) };
  };
  return {
    rows: (file) => run(`SELECT * FROM read_parquet('${file}', hive_partitioning = false)`),
    async ask(data, sql, views) {
      for (const view of views) await connection.run(view.replaceAll("'job/", `'${data}/`));
      return run(sql);
    },
  };
}

async function clickhouse() {
  const { Session } = await import("chdb");
  const session = new Session();
  // A single thread keeps the order of the file.
  const run = (sql, settings = "") => {
    const how = ` SETTINGS output_format_json_quote_64bit_integers = 1${settings}`;
    const answer = JSON.parse(session.query(sql + how, "JSONCompact"));
    return {
      columns: answer.meta.map((column) => column.name),
      rows: answer.data.map((row) => row.map(text)),
    };
  };
  return {
    rows: async (file) =>
      run(`SELECT * FROM file('${file}', Parquet)`,
        ", use_hive_partitioning = 0, max_threads = 1, input_format_parquet_preserve_order = 1"),
    async ask(data, sql, views) {
      for (const view of views) session.query(view.replaceAll("'job/", `'${data}/`));
      return run(sql);
    },
  };
}

async function hyparquet() {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import("hyparquet");
  const { compressors } = await import("hyparquet-compressors");
  return {
    async rows(file) {
      const buffer = await asyncBufferFromFile(file);
      const metadata = await parquetMetadataAsync(buffer);
      const columns = metadata.schema.slice(1).map((column) => column.name);
      const rows = await parquetReadObjects({ file: buffer, metadata, compressors });
      return { columns, rows: rows.map((row) => columns.map((name) => text(row[name]))) };
    },
  };
}

export const makers = { DuckDB: duckdb, ClickHouse: clickhouse, hyparquet };
