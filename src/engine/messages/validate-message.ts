import type { CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { AgentDefinition } from '../agent-definition.ts';

/** Validates incoming messages against the agent card: required extensions, input modes and push support. */
export class MessageValidator {
  readonly #extensions: readonly string[];
  /** Undefined if every media type is accepted. */
  readonly #modes: readonly string[] | undefined;
  readonly #supportsPush: boolean;

  constructor({
    extensions = [],
    defaultInputModes,
    skills = [],
    pushNotifications = false,
  }: AgentDefinition) {
    this.#extensions = extensions.filter((each) => each.required).map(({ uri }) => uri);
    // Without defaultInputModes every media type is accepted; the card lists */*.
    this.#modes = defaultInputModes && [
      ...defaultInputModes,
      ...skills.flatMap(({ inputModes = [] }) => inputModes),
    ];
    this.#supportsPush = pushNotifications;
  }

  /** @throws {@link A2AError} if the agent does not accept the message. */
  check({ message, configuration }: SendRequest, { extensions }: CallContext): void {
    for (const uri of this.#extensions) {
      if (extensions?.includes(uri)) continue;
      const details = { uri };
      throw new A2AError('EXTENSION_SUPPORT_REQUIRED', `Required extension not requested: ${uri}`, {
        details,
      });
    }
    if (configuration?.pushConfig && !this.#supportsPush)
      throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
    if (this.#modes) for (const part of message.parts) checkMode(part, this.#modes);
  }
}

function checkMode({ mediaType }: Part, modes: readonly string[]): void {
  if (mediaType === undefined || modes.some((mode) => matchesMode(mediaType, mode))) return;
  throw new A2AError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    `Unsupported media type ${mediaType}; supported: ${modes.join(', ')}`,
    { details: { mediaType } },
  );
}

/** Returns true if an input mode (such as `image/*`, `text` or a full type) matches; media type parameters are ignored. */
function matchesMode(mediaType: string, mode: string): boolean {
  const type = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  const accepted = mode.toLowerCase();
  if (accepted === '*/*' || accepted === '*' || accepted === type) return true;
  const prefix = accepted.endsWith('/*')
    ? accepted.slice(0, -1)
    : accepted.includes('/')
      ? undefined
      : `${accepted}/`;
  return prefix !== undefined && type.startsWith(prefix);
}
