import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Dialect, UnaryOperation } from '../../src/dialects/dialect.ts';
import { lenientMode, strictMode } from '../../src/dialects/translation-loss.ts';
import type { Operation } from '../../src/protocol/agent.ts';
import { A2AError, type A2AErrorOptions, type ErrorReason } from '../../src/protocol/errors.ts';
import type { StreamEvent } from '../../src/protocol/event.ts';
import type { Task } from '../../src/protocol/task.ts';

/**
 * Manually written wire and model forms of the same value. Each file is one pair; its folder is the name of the
 * dialect.
 */
interface Pair {
  /**
   * `task`, `message`, `event`, `card`, `notification`, `error`, `rest-error`, `send` and `push` (requests), or
   * `request <operation>` and `result <operation>`.
   */
  kind: string;
  wire: unknown;
  model: unknown;
  /** Checks one direction only, if the wire has several forms of the value. */
  only?: 'read' | 'write';
}

interface GoldenCodec {
  read: (wire: unknown) => unknown;
  write: (model: never) => unknown;
}

interface ErrorModel extends A2AErrorOptions {
  reason: ErrorReason;
  message: string;
}

function toError({ reason, message, ...options }: ErrorModel): A2AError {
  return new A2AError(reason, message, options);
}

function toModel({ reason, message, details, violations }: A2AError): unknown {
  return {
    reason,
    message,
    ...(Object.keys(details).length > 0 && { details }),
    ...(violations.length > 0 && { violations }),
  };
}

function errorCodec(dialect: Dialect, kind: string): GoldenCodec {
  if (kind === 'error') {
    return {
      read: (wire) => toModel(dialect.rpcError.read(wire)),
      write: (model: ErrorModel) => dialect.rpcError.write(toError(model)),
    };
  }
  return {
    read(wire) {
      const { status, body } = wire as { status: number; body: unknown };
      return toModel(dialect.restError.read(body, status));
    },
    write: (model: ErrorModel) => dialect.restError.write(toError(model)),
  };
}

function goldenCodec(dialect: Dialect, kind: string): GoldenCodec {
  switch (kind) {
    case 'task':
    case 'message':
    case 'card':
      return {
        read: (wire) => dialect[kind].read(wire, lenientMode()),
        write: (model) => dialect[kind].write(model),
      };
    case 'event':
      return {
        read: (wire) => dialect.eventReader({}).read(wire, lenientMode()).at(-1),
        write: (model: StreamEvent) => dialect.eventWriter().write(model)[0],
      };
    case 'notification':
      return {
        read: (wire) => dialect.notification.read(wire, lenientMode()),
        write: (model: StreamEvent & { task: Task }) => dialect.notification.write(model, model.task),
      };
    case 'error':
    case 'rest-error':
      return errorCodec(dialect, kind);
    case 'send':
      return goldenCodec(dialect, 'request send');
    case 'push':
      return goldenCodec(dialect, 'request createPushConfig');
    default:
      return operationCodec(dialect, kind);
  }
}

function operationCodec(dialect: Dialect, kind: string): GoldenCodec {
  const [side, operation] = kind.split(' ');
  const codec =
    side === 'request'
      ? dialect.requests[operation as Operation]
      : dialect.results[operation as UnaryOperation];
  if (codec === undefined) throw new Error(`Unknown golden kind: ${kind}`);
  const mode = side === 'request' ? { ...strictMode, newMessageId: () => 'generated' } : lenientMode();
  return { read: (wire) => codec.read(wire, mode), write: (model) => codec.write(model) };
}

const here = new URL('./', import.meta.url);
// The folder cli contains the output of commands.
const folders = readdirSync(here, { withFileTypes: true }).filter(
  (entry) => entry.isDirectory() && entry.name !== 'cli',
);

describe.each(folders.map((folder) => folder.name))('%s', async (name) => {
  const module = (await import(`../../src/dialects/${name}/index.ts`)) as { [name: string]: Dialect };
  const dialect = module[name] as Dialect;
  const files = readdirSync(new URL(`${name}/`, here)).filter((file) => file.endsWith('.json'));

  describe.each(files)('%s', (file) => {
    const text = readFileSync(new URL(`${name}/${file}`, here), 'utf8');
    const { kind, wire, model, only } = JSON.parse(text) as Pair;
    const { read, write } = goldenCodec(dialect, kind);

    if (only !== 'write') {
      it('decodes the wire form', () => {
        expect(JSON.parse(JSON.stringify(read(wire) ?? null))).toEqual(model);
      });
    }

    if (only !== 'read') {
      it('encodes the model', () => {
        expect(JSON.parse(JSON.stringify(write(model as never) ?? null))).toEqual(wire);
      });
    }
  });
});
