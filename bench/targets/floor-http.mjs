// Floor: bare node:http.
import http from 'node:http';
import * as core from './floor-core.mjs';
const port = +process.env.PORT;
const cardBody = Buffer.from(JSON.stringify(core.card(port)));
const SSE = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', Connection: 'keep-alive' };

function answer(res, r) {
  if (r.json) {
    const s = JSON.stringify(r.json);
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(s) });
    res.end(s);
    return;
  }
  res.writeHead(200, SSE);
  const off = r.start(
    (e) => {
      res.write('data: ' + JSON.stringify(e) + '\n\n');
    },
    () => res.end(),
  );
  res.on('close', off);
}
http
  .createServer((req, res) => {
    const url = req.url;
    if (req.method === 'GET') {
      if (url.startsWith('/.well-known/')) {
        res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': cardBody.length });
        res.end(cardBody);
        return;
      }
      const i = url.indexOf('?');
      return answer(
        res,
        core.rest(
          'GET',
          url.slice(9, i < 0 ? undefined : i),
          null,
          i < 0 ? new URLSearchParams() : new URLSearchParams(url.slice(i + 1)),
        ),
      );
    }
    const parts = [];
    req.on('data', (d) => parts.push(d));
    req.on('end', () => {
      const body = JSON.parse(parts.length === 1 ? parts[0] : Buffer.concat(parts));
      if (url === '/a2a/jsonrpc') answer(res, core.rpc(body, req.headers['a2a-version'] !== '1.0'));
      else answer(res, core.rest('POST', url.slice(9), body));
    });
  })
  .listen(port, '127.0.0.1');
