/**
 * Agents on the official SDKs, one per version, on free loopback ports. By default the text selects the response: `stream`
 * returns chunks, `ask` requests input once, `slow` works until it is canceled, `direct` responds without a task, and all
 * other texts are echoed.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Server as GrpcServer,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import express, { type Express } from 'express';
import * as sdk02 from 'sdk-0.2/server';
import * as sdk03 from 'sdk-0.3/server';
import * as express03 from 'sdk-0.3/server/express';
import * as grpc03 from 'sdk-0.3/server/grpc';
import * as compat from 'sdk-1.3/compat/v0_3/server/grpc';
import * as sdk13 from 'sdk-1.3/server';
import * as express13 from 'sdk-1.3/server/express';
import * as grpc13 from 'sdk-1.3/server/grpc';
import { answer, type AgentCommand, type Plan, untilCanceled } from './agent-commands.ts';
import { TaggedExecutor, WrappedExecutor } from './official-executors.ts';

/** A server that was started, and how to stop it. */
export interface Started {
  url: string;
  close(): Promise<void>;
}

/** Name, description and skill of an agent. */
export interface Persona {
  name: string;
  description: string;
  skill: { id: string; name: string; description: string; tags: string[]; examples?: string[] };
  /** Input modes besides text. */
  alsoTakes?: readonly string[];
  /** Whether callers that are known get a card with another name. */
  hasExtendedCard?: boolean;
  /** Whether its card of 0.2 says that it pushes: that SDK keeps configurations, and sends nothing. */
  claimsPush?: boolean;
  plan: Plan;
}

const chunks = Array.from(
  { length: 5 },
  (_, i): AgentCommand => ({ chunk: `${i}`, append: i > 0, last: i === 4 }),
);
const rest: { readonly [text: string]: readonly AgentCommand[] } = {
  ask: [{ state: 'input-required', text: 'Which one?' }],
  slow: [untilCanceled],
  stream: [...chunks, { state: 'completed' }],
};

const echo: Persona = {
  name: 'Echo',
  description: 'Says it back',
  skill: { id: 'echo', name: 'Echo', description: 'Says it back', tags: ['test'] },
  hasExtendedCard: true,
  claimsPush: true,
  plan: (text) =>
    text === 'direct' ? [{ message: 'hello' }] : [{ state: 'working' }, ...(rest[text] ?? answer(text))],
};

/** Serves whatever a function mounts, and gRPC at a port of its own. */
async function start(
  mount: (app: Express, url: string, grpcAddress: string) => OfficialServices | undefined,
  interceptors: ServerInterceptor[] = [],
): Promise<Started> {
  const grpc = new GrpcServer({ interceptors });
  const grpcPort = await new Promise<number>((resolve, reject) => {
    grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
  const app = express();
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [definition, service] of mount(app, url, `127.0.0.1:${grpcPort}`) ?? [])
    grpc.addService(definition as ServiceDefinition, service as UntypedServiceImplementation);
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        grpc.forceShutdown();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Services of gRPC and their implementations. */
type OfficialServices = (readonly [definition: unknown, service: unknown])[];

/** Returns the members that the cards of all versions share. */
function baseCard({ name, description, alsoTakes = [] }: Persona) {
  const defaultInputModes = ['text/plain', ...alsoTakes];
  return { name, description, version: '1.2.3', defaultInputModes, defaultOutputModes: ['text/plain'] };
}

const extended = (persona: Persona, card: any) =>
  persona.hasExtendedCard ? { ...card, name: `${persona.name} extended` } : undefined;

const userBuilder = async () => ({ isAuthenticated: true, userName: 'tester' });

/** An agent of 0.2. Its card has no version at all. */
export function start02(persona: Persona = echo): Promise<Started> {
  return start((app, url) => {
    const capabilities = { streaming: true, pushNotifications: persona.claimsPush ?? false };
    const card: any = { ...baseCard(persona), url: `${url}/`, capabilities, skills: [persona.skill] };
    const executor = new TaggedExecutor(persona.plan);
    const handler = new sdk02.DefaultRequestHandler(card, new sdk02.InMemoryTaskStore(), executor);
    new sdk02.A2AExpressApp(handler).setupRoutes(app as any);
    return undefined;
  });
}

/** An agent of 0.3 with JSON-RPC, REST and gRPC. */
export function start03(persona: Persona = echo): Promise<Started> {
  return start((app, url, grpcAddress) => {
    const card: any = {
      ...baseCard(persona),
      protocolVersion: '0.3.0',
      url: `${url}/rpc`,
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [
        { url: `${url}/rpc`, transport: 'JSONRPC' },
        { url: `${url}/rest`, transport: 'HTTP+JSON' },
        { url: grpcAddress, transport: 'GRPC' },
      ],
      capabilities: { streaming: true, pushNotifications: true },
      skills: [persona.skill],
      ...(persona.hasExtendedCard && { supportsAuthenticatedExtendedCard: true }),
    };
    const requestHandler = new sdk03.DefaultRequestHandler(
      card,
      new sdk03.InMemoryTaskStore(),
      new TaggedExecutor(persona.plan),
      undefined,
      undefined,
      undefined,
      extended(persona, card),
    );
    const agentCard = express03.agentCardHandler({ agentCardProvider: requestHandler });
    app.use('/.well-known/agent-card.json', agentCard as any);
    app.use('/rpc', express03.jsonRpcHandler({ requestHandler, userBuilder }) as any);
    app.use('/rest', express03.restHandler({ requestHandler, userBuilder }) as any);
    return [[grpc03.A2AService, grpc03.grpcService({ requestHandler, userBuilder })]];
  });
}

/** Rejects calls without a bearer token. */
function requireToken(token: string): ServerInterceptor {
  return (_method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, accept) => {
            const [authorization] = metadata.get('authorization');
            if (authorization === `Bearer ${token}`) accept(metadata);
            else call.sendStatus({ code: status.UNAUTHENTICATED, details: 'No valid token' });
          },
        }),
    });
}

/**
 * An agent of 1.0 with JSON-RPC, REST and gRPC, the last one also of 0.3.
 *
 * @param token - the bearer token that gRPC requires.
 */
export function start13(persona: Persona = echo, token?: string): Promise<Started> {
  const interceptors = token === undefined ? [] : [requireToken(token)];
  return start((app, url, grpcAddress) => {
    const extendedAgentCard = persona.hasExtendedCard ?? false;
    const skill = {
      examples: [],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
      ...persona.skill,
    };
    const card: any = {
      ...baseCard(persona),
      supportedInterfaces: [
        { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
        { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: '' },
        { url: grpcAddress, protocolBinding: 'GRPC', protocolVersion: '1.0', tenant: '' },
        { url: grpcAddress, protocolBinding: 'GRPC', protocolVersion: '0.3', tenant: '' },
      ],
      capabilities: { streaming: true, pushNotifications: true, extendedAgentCard, extensions: [] },
      securitySchemes: {},
      securityRequirements: [],
      signatures: [],
      skills: [skill],
    };
    const requestHandler = new sdk13.DefaultRequestHandler(
      card,
      new sdk13.InMemoryTaskStore() as any,
      new WrappedExecutor(persona.plan),
      undefined,
      undefined,
      undefined,
      extended(persona, card),
    );
    const agentCard = express13.agentCardHandler({ agentCardProvider: requestHandler });
    app.use('/.well-known/agent-card.json', agentCard as any);
    app.use('/rpc', express13.jsonRpcHandler({ requestHandler, userBuilder }) as any);
    app.use('/rest', express13.restHandler({ requestHandler, userBuilder }) as any);
    const options = { requestHandler, userBuilder };
    return [
      [grpc13.A2AService, grpc13.grpcService(options)],
      [compat.LegacyA2AService, compat.legacyGrpcService(options)],
    ];
  }, interceptors);
}
