// Talks to `msprof mcp` with the clients of the protocol's own packages: the first generation, which
// starts with a handshake, and the second, which finds out the newest version. For scripts/test-mcp.
// Arguments: msprof, a folder with a capture JOB… and its name.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio';

const [msprof, root, capture] = process.argv.slice(2);
const server = { command: msprof, args: ['mcp', '--root', root] };
const tools = ['advise', 'cluster', 'compare', 'doctor', 'layout', 'list', 'open', 'query', 'summary', 'table',
  'timeline'];

async function check(name, client, transport) {
  await client.connect(transport);
  assert.equal(client.getServerVersion().name, 'msprof');
  assert.ok(client.getInstructions().includes(root));
  assert.ok(client.getServerCapabilities().tools);

  const listed = await client.listTools();
  assert.deepEqual(listed.tools.map(tool => tool.name).sort(), tools);

  const ask = async (tool, inputs) => {
    const result = await client.callTool({ name: tool, arguments: inputs });
    assert.ok(!result.isError, JSON.stringify(result));
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
    assert.ok(JSON.stringify(result).length <= 8000);
    return result.structuredContent;
  };
  assert.equal((await ask('list', {})).captures.length, 1);
  const calls = {
    open: {}, summary: {}, advise: {}, timeline: { min_us: 1 }, table: { name: 'op_summary' },
    query: { sql: 'SELECT name, total_us FROM v_ops ORDER BY total_us DESC LIMIT 3' },
  };
  for (const [tool, inputs] of Object.entries(calls)) {
    const answer = await ask(tool, { path: capture, ...inputs });
    assert.equal(answer.captures.length, 1, tool);
  }
  assert.ok((await ask('doctor', { path: capture })).checks.length > 0);
  assert.ok((await ask('compare', { base: [capture], new: [capture] })).verdict);
  assert.ok((await ask('layout', { paths: [capture] })));
  assert.ok((await ask('cluster', { path: capture })).cannot_be_answered);

  let cursor, rows = 0;
  do {
    const answer = await ask('query', { path: capture, sql: 'SELECT * FROM v_tasks ORDER BY task_id', cursor });
    rows += answer.captures?.[0]?.rows?.length ?? 0;
    cursor = answer.next_cursor;
  } while (cursor);
  const counted = await ask('query', { path: capture, sql: 'SELECT count(*) FROM v_tasks' });
  assert.equal(rows, counted.captures[0].rows[0][0]);

  const refused = await client.callTool({ name: 'query', arguments: { path: capture, sql: 'DELETE FROM task' } });
  assert.equal(refused.isError, true);
  await assert.rejects(client.callTool({ name: 'nothing', arguments: {} }));

  const { resources } = await client.listResources();
  assert.ok(resources.length >= 10);
  for (const { uri } of resources) {
    const { contents } = await client.readResource({ uri });
    assert.ok(contents[0].text.startsWith('#'), uri);
  }
  await assert.rejects(client.readResource({ uri: 'msprof://docs/none.md' }));

  const stop = new AbortController();
  const slow = client.callTool({
    name: 'query',
    arguments: { path: capture, sql: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n' },
  }, ...(name === 'sdk' ? [undefined] : []), { signal: stop.signal });
  setTimeout(() => stop.abort(), 200);
  await assert.rejects(slow);
  assert.equal((await ask('query', { path: capture, sql: 'SELECT 1 AS one' })).captures[0].rows[0][0], 1);
  await client.close();
  console.log(`${name}: ok, ${rows} rows`);
}

const about = { name: 'test-mcp', version: '1' };
await check('sdk', new Client(about), new StdioClientTransport(server));
await check('client, with a handshake', new NewClient(about), new NewTransport(server));
const newest = new NewClient(about, { versionNegotiation: { mode: 'auto' } });
await check('client, newest version', newest, new NewTransport(server));
