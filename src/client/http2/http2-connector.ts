import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';

type Connector = buildConnector.connector;
type Done = buildConnector.Callback;

/** The code of errors of servers that do not offer HTTP/2 during the TLS handshake. */
const noAlpnCode = 'HTTP2_NOT_NEGOTIATED';

/** Creates a connector like `buildConnector` of undici, which offers HTTP/2 only. */
export function buildHttp2Connector({ timeout, ...options }: buildConnector.BuildOptions = {}): Connector {
  const connector = (target: buildConnector.Options, done: Done): Socket => {
    const host = target.hostname;
    const isSecure = target.protocol === 'https:';
    const port = Number(target.port) || (isSecure ? 443 : 80);
    const address = { ...(options as object), host, port, autoSelectFamily: true, noDelay: true };
    const socket = isSecure
      ? connectTls({ ...address, servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['h2'] })
      : connectTcp(address);
    const timer = setTimeout(() => socket.destroy(timeoutError()), timeout ?? 10_000);
    const settle = (error: Error | undefined): void => {
      clearTimeout(timer);
      socket.off('error', settle);
      socket.off('close', onClose);
      if (error) done(error, null);
      else done(null, socket);
    };
    const onClose = (): void => settle(new Error('The server closed the connection'));
    socket.once('error', settle);
    socket.once('close', onClose);
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      if (!isSecure || (socket as TLSSocket).alpnProtocol === 'h2') {
        settle(undefined);
        return;
      }
      settle(withCode('The server does not offer HTTP/2', noAlpnCode));
      socket.destroy();
    });
    return socket;
  };
  return connector;
}

function timeoutError(): Error {
  return withCode('The connection timed out', 'ETIMEDOUT');
}

/** Returns an error with a code. */
export function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
