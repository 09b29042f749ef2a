import { createHash, randomUUID } from 'node:crypto';
import { type RawServer, type RawServerRequest, respondJson, startRawServer } from '../http/raw-server.ts';

/** Behavior of {@link startAuthorizationServer} that a test changes at any time. */
interface AuthorizationServerBehavior {
  /** What the user does. @defaultValue approves */
  decision: 'approve' | 'deny' | 'wait';
  /** Answers to device polls before the decision counts. */
  pollAnswers: string[];
  /** Seconds. */
  tokenLifetime: number;
  /** Issuer in the redirect. @defaultValue its own */
  issuerInRedirect: string | undefined;
  /** Issuer in the metadata and, without `issuerInRedirect`, in the redirect. @defaultValue its own URL */
  issuer: string | undefined;
}

/** An OAuth 2 authorization server: authorization code with PKCE, device code, refresh tokens, registration, metadata. */
export interface AuthorizationServer extends RawServer {
  readonly behavior: AuthorizationServerBehavior;
  /** Access tokens that are valid. */
  readonly accessTokens: ReadonlySet<string>;
}

interface IssuedCode {
  clientId: string;
  redirectUri: string;
  challenge: string;
}

/** Client with a secret, which it must send with HTTP Basic in each request. */
export const confidentialClient = { clientId: 'server app', clientSecret: 'a secret: 100%' } as const;

/** Starts an authorization server with the clients `tool` and {@link confidentialClient}; others can register. */
export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  const behavior: AuthorizationServerBehavior = {
    decision: 'approve',
    pollAnswers: [],
    tokenLifetime: 3_600,
    issuerInRedirect: undefined,
    issuer: undefined,
  };
  const clients = new Map<string, string[]>([
    ['tool', []],
    [confidentialClient.clientId, []],
  ]);
  const codes = new Map<string, IssuedCode>();
  const refreshTokens = new Set<string>();
  const accessTokens = new Set<string>();
  const issue = () => {
    const tokens = { access_token: randomUUID(), refresh_token: randomUUID() };
    accessTokens.add(tokens.access_token);
    refreshTokens.add(tokens.refresh_token);
    return { status: 200, body: { ...tokens, token_type: 'Bearer', expires_in: behavior.tokenLifetime } };
  };
  const refuse = (error: string) => ({ status: 400, body: { error } });

  /** Returns the client that sent a request; undefined if it is unknown or did not authenticate. */
  function clientOf({ text, headers }: RawServerRequest): string | undefined {
    const [, basic] = /^Basic (.*)$/.exec(headers.authorization ?? '') ?? [];
    if (basic === undefined) {
      const id = new URLSearchParams(text).get('client_id') ?? '';
      return clients.has(id) && id !== confidentialClient.clientId ? id : undefined;
    }
    const [id, secret] = atob(basic)
      .split(':')
      .map((half) => new URLSearchParams(`half=${half}`).get('half'));
    return id === confidentialClient.clientId && secret === confidentialClient.clientSecret ? id : undefined;
  }

  function exchangeCode(form: URLSearchParams, clientId: string) {
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isValid =
      code?.challenge === challenge &&
      code.clientId === clientId &&
      code.redirectUri === form.get('redirect_uri');
    return isValid ? issue() : refuse('invalid_grant');
  }

  function answerTokenRequest(request: RawServerRequest) {
    const form = new URLSearchParams(request.text);
    const clientId = clientOf(request);
    if (clientId === undefined) return { status: 401, body: { error: 'invalid_client' } };
    switch (form.get('grant_type')) {
      case 'authorization_code':
        return exchangeCode(form, clientId);
      case 'refresh_token':
        return refreshTokens.delete(form.get('refresh_token') ?? '') ? issue() : refuse('invalid_grant');
      case 'urn:ietf:params:oauth:grant-type:device_code': {
        const answer = behavior.pollAnswers.shift();
        if (answer !== undefined) return refuse(answer);
        if (behavior.decision === 'wait') return refuse('authorization_pending');
        return behavior.decision === 'deny' ? refuse('access_denied') : issue();
      }
      default:
        return refuse('unsupported_grant_type');
    }
  }

  /** Redirects with a code, or returns why the request is invalid. */
  function authorize(query: URLSearchParams, url: string): URL | string {
    const redirectUri = query.get('redirect_uri') ?? '';
    const clientId = query.get('client_id') ?? '';
    const registered = clients.get(clientId);
    if (!registered) return 'unknown client';
    if (!/^http:\/\/127\.0\.0\.1:\d+\//.test(redirectUri)) return 'not a loopback redirect';
    if (registered.length > 0 && !registered.includes(redirectUri)) return 'not a registered redirect';
    if (query.get('response_type') !== 'code') return 'not a code';
    if (query.get('code_challenge_method') !== 'S256') return 'no PKCE';
    const target = new URL(redirectUri);
    target.searchParams.set('state', query.get('state') ?? '');
    target.searchParams.set('iss', behavior.issuerInRedirect ?? behavior.issuer ?? url);
    if (behavior.decision === 'deny') target.searchParams.set('error', 'access_denied');
    else {
      const code = randomUUID();
      codes.set(code, { clientId, redirectUri, challenge: query.get('code_challenge') ?? '' });
      target.searchParams.set('code', code);
    }
    return target;
  }

  const server = await startRawServer((request, response, url) => {
    const [path, search = ''] = request.path.split('?', 2);
    if (path?.includes('/.well-known/'))
      respondJson(response, {
        issuer: behavior.issuer ?? url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        device_authorization_endpoint: `${url}/device`,
        registration_endpoint: `${url}/register`,
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
      });
    else if (path === '/authorize') {
      const target = authorize(new URLSearchParams(search), url);
      if (typeof target === 'string') respondJson(response, { error: target }, 400);
      else response.writeHead(302, { location: target.href }).end();
    } else if (path === '/device' && clientOf(request) === undefined)
      respondJson(response, { error: 'invalid_client' }, 401);
    else if (path === '/device')
      respondJson(response, {
        device_code: randomUUID(),
        user_code: 'WDJB-MJHT',
        verification_uri: `${url}/activate`,
        interval: 5,
        expires_in: 60,
      });
    else if (path === '/register') {
      const { redirect_uris: uris = [] } = JSON.parse(request.text) as { redirect_uris?: string[] };
      const id = randomUUID();
      clients.set(id, uris);
      respondJson(response, { client_id: id }, 201);
    } else {
      const { status, body } = answerTokenRequest(request);
      respondJson(response, body, status);
    }
  });
  return Object.assign(server, { behavior, accessTokens });
}
