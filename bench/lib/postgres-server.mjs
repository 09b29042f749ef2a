// A PostgreSQL server in a temporary folder, with the settings of its package: every commit is on the disk.
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const packaged = '/usr/lib/postgresql';

export async function startPostgres(port) {
  const version = existsSync(packaged) ? readdirSync(packaged).sort((a, b) => b - a)[0] : undefined;
  if (!version) throw new Error('PostgreSQL is not installed (apt-get install postgresql)');
  const programs = path.join(packaged, version, 'bin');
  const folder = mkdtempSync(path.join(tmpdir(), 'dragoman-bench-postgres-'));
  const user = unprivileged();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = path.join(folder, 'data');
  const made = spawnSync(
    path.join(programs, 'initdb'),
    ['-D', data, '--auth', 'trust', '--username', 'bench', '--no-sync'],
    { ...user, cwd: folder, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const child = spawn(
    path.join(programs, 'postgres'),
    ['-D', data, '-k', folder, '-h', '127.0.0.1', '-p', String(port)],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await new Promise((resolve, reject) => {
    let log = '';
    child.stderr.on('data', (text) => {
      if (log.length < 100_000) log += text;
      if (log.includes('ready to accept connections')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log}`)));
  });
  return {
    url: `postgres://bench@127.0.0.1:${port}/postgres`,
    version,
    /** Milliseconds of processor time of all processes of the server, also of those that have ended. */
    cpu: () => [child.pid, ...childrenOf(child.pid)].reduce((sum, pid) => sum + cpuOf(pid), 0),
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGQUIT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. */
function unprivileged() {
  if (process.getuid() !== 0) return {};
  const read = (flag) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim());
  return { uid: read('-u'), gid: read('-g') };
}

function childrenOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}

/** Processor time of a process and of its children that have ended, in milliseconds at 100 Hz. */
function cpuOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]) * 10, 0);
  } catch {
    return 0;
  }
}
