import type { JsonObject } from '../../../primitives/json.ts';
import type { CheckedTransport, CheckedVersion } from '../../rule-model.ts';

/** An interface of a card. */
export interface CardInterface {
  readonly transport: CheckedTransport;
  readonly url: string;
  /** 1.0 only. */
  readonly tenant?: string;
}

/** What a card declares besides its interfaces. */
export interface CardFeatures {
  readonly streaming?: boolean;
  readonly push?: boolean;
  readonly extendedCard?: boolean;
  /** Requires a bearer token. */
  readonly security?: boolean;
  /** URI of a required extension. */
  readonly requiredExtension?: string;
}

/** Builds a card of a version. The first interface is the preferred one. */
export function buildSuiteCard(
  version: CheckedVersion,
  interfaces: readonly CardInterface[],
  {
    streaming = false,
    push = false,
    extendedCard = false,
    security = false,
    requiredExtension,
  }: CardFeatures,
): JsonObject {
  const extensions =
    requiredExtension === undefined
      ? {}
      : { extensions: [{ uri: requiredExtension, description: 'Required', required: true }] };
  const common = {
    name: 'Conformance agent',
    description: 'Tests clients.',
    version: '1.0.0',
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'test', name: 'Test', description: 'Answers any text.', tags: ['test'] }],
  };
  const capabilities = { streaming, pushNotifications: push, ...extensions };
  const [preferred, ...others] = interfaces;
  switch (version) {
    case '1.0':
      return {
        ...common,
        supportedInterfaces: interfaces.map(({ transport, url, tenant }) => ({
          url,
          protocolBinding: transport,
          protocolVersion: '1.0',
          ...(tenant === undefined ? {} : { tenant }),
        })),
        capabilities: { ...capabilities, extendedAgentCard: extendedCard },
        ...(security
          ? {
              securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
              securityRequirements: [{ schemes: { bearer: { list: [] } } }],
            }
          : {}),
      };
    case '0.3':
      return {
        protocolVersion: '0.3.0',
        ...common,
        url: preferred?.url,
        preferredTransport: preferred?.transport,
        additionalInterfaces: [preferred, ...others].flatMap((each) =>
          each ? [{ url: each.url, transport: each.transport }] : [],
        ),
        capabilities,
        supportsAuthenticatedExtendedCard: extendedCard,
        ...(security
          ? { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } }, security: [{ bearer: [] }] }
          : {}),
      };
    case '0.1':
      return {
        ...common,
        url: preferred?.url,
        capabilities: { ...capabilities, stateTransitionHistory: false },
        authentication: { schemes: security ? ['bearer'] : [] },
      };
  }
}
