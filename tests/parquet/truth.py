#!/usr/bin/python3
"""The expected rows of a store's Parquet files, computed by separate SQL on the store's tables.

truth.py STORE CAPTURE: prints {table: {"columns": [...], "rows": [[text or null, ...], ...]}}.
"""
import json
import sqlite3
import sys

STEP = """(SELECT CASE WHEN {time} < last.end_ns THEN last.number END FROM iteration AS last
  WHERE last.device_id = {row}.device_id AND last.start_ns <= {time}
    AND CASE WHEN EXISTS (SELECT 1 FROM iteration AS any WHERE any.device_id = {row}.device_id
                          AND any.is_framework_step = 1)
        THEN last.is_framework_step = 1 ELSE last.model_number = {row}.model_number END
  ORDER BY last.start_ns DESC, last.id DESC LIMIT 1)"""

TABLES = {
    "tasks": f"""
SELECT :capture AS capture, task.id AS task_id, task.device_id, task.model_number AS model_id,
  {STEP.format(row="task", time="task.start_ns")} AS step, task.execution, task.stream_id,
  task.task_number, task.op_id, op_name.text AS op_name, op_type.text AS op_type,
  task_type.text AS task_type, task.start_ns, task.duration_ns, task.api_id AS call_id,
  comm_op_task.comm_op_id AS collective_id
FROM task LEFT JOIN op ON op.id = task.op_id
  LEFT JOIN name AS op_name ON op_name.id = op.name_id
  LEFT JOIN name AS op_type ON op_type.id = op.type_name_id
  LEFT JOIN name AS task_type ON task_type.id
    = coalesce(op.unit_name_id, task.host_type_name_id, task.device_type_name_id)
  LEFT JOIN comm_op_task ON comm_op_task.task_id = task.id
ORDER BY task.id""",
    "calls": """
SELECT :capture AS capture, api_call.id AS call_id, process_id, thread_id,
  CASE level WHEN 20000 THEN 'acl' WHEN 15000 THEN 'model' WHEN 10000 THEN 'node'
    WHEN 5500 THEN 'communication' WHEN 5000 THEN 'runtime' ELSE CAST(level AS TEXT) END AS level,
  type.text AS type, name.text AS name, item.text AS item, start_ns, end_ns - start_ns AS duration_ns
FROM api_call LEFT JOIN name AS type ON type.id = type_name_id
  LEFT JOIN name ON name.id = name_id LEFT JOIN name AS item ON item.id = item_name_id
ORDER BY api_call.id""",
    "collectives": f"""
SELECT :capture AS capture, comm_op.id AS collective_id, device_id, model_number AS model_id,
  {STEP.format(row="comm_op", time="comm_op.start_ns")} AS step, name.text AS name,
  type.text AS type, grp.text AS group_name,
  row_number() OVER (PARTITION BY device_id, comm_op.group_name_id ORDER BY comm_op.id) - 1 AS sequence,
  comm_op.rank_size AS rank_count, algorithm.text AS algorithm, comm_call.op_data_type AS data_type,
  comm_call.op_count AS element_count, start_ns, end_ns, end_ns - start_ns AS duration_ns
FROM comm_op LEFT JOIN comm_call ON comm_call.id = first_comm_call_id
  LEFT JOIN name ON name.id = comm_op.name_id LEFT JOIN name AS type ON type.id = op_type_name_id
  LEFT JOIN name AS grp ON grp.id = comm_op.group_name_id
  LEFT JOIN name AS algorithm ON algorithm.id = op_algorithm_name_id
ORDER BY comm_op.id""",
    "ops": """
SELECT :capture AS capture, op.id AS op_id, model.model_id, model_name.text AS model, position,
  layer_id, name.text AS name, original.text AS original_names, type.text AS type,
  unit.text AS unit, shapes.text AS input_shapes, outputs.text AS output_shapes,
  types.text AS input_types, op.block_num, count(duration_ns) AS count,
  sum(duration_ns) AS total_ns, min(duration_ns) AS min_ns, max(duration_ns) AS max_ns
FROM op JOIN task ON task.op_id = op.id LEFT JOIN model ON model.id = op.model_row
  LEFT JOIN name AS model_name ON model_name.id = model.name_id
  LEFT JOIN name ON name.id = op.name_id
  LEFT JOIN name AS original ON original.id = op.original_name_id
  LEFT JOIN name AS type ON type.id = op.type_name_id
  LEFT JOIN name AS unit ON unit.id = op.unit_name_id
  LEFT JOIN name AS shapes ON shapes.id = op.input_shapes_name_id
  LEFT JOIN name AS outputs ON outputs.id = op.output_shapes_name_id
  LEFT JOIN name AS types ON types.id = op.input_types_name_id
GROUP BY op.id ORDER BY op.id""",
}


def main():
    store, capture = sys.argv[1:]
    db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    result = {}
    for table, sql in TABLES.items():
        read = db.execute(sql, {"capture": capture})
        rows = [[None if cell is None else str(cell) for cell in row] for row in read]
        result[table] = {"columns": [column[0] for column in read.description], "rows": rows}
    json.dump(result, sys.stdout)


main()
