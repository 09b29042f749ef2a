import type { CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { AgentDefinition } from '../agent-definition.ts';

/** What a message must be for an agent to take it, as its card says. */
export class MessageValidator {
  readonly #extensions: readonly string[];
  /** Undefined where every media type is taken. */
  readonly #modes: readonly string[] | undefined;
  readonly #takesPush: boolean;

  constructor({
    extensions = [],
    defaultInputModes,
    skills = [],
    pushNotifications = false,
  }: AgentDefinition) {
    this.#extensions = extensions.filter((each) => each.required).map(({ uri }) => uri);
    // An agent that does not say what it takes gets everything, and its card says so.
    this.#modes = defaultInputModes && [
      ...defaultInputModes,
      ...skills.flatMap(({ inputModes = [] }) => inputModes),
    ];
    this.#takesPush = pushNotifications;
  }

  /** Refuses what the agent does not take. */
  check({ message, configuration }: SendRequest, { extensions }: CallContext): void {
    for (const uri of this.#extensions) {
      if (extensions?.includes(uri)) continue;
      const details = { uri };
      throw new A2AError('EXTENSION_SUPPORT_REQUIRED', `This agent needs the extension ${uri}`, { details });
    }
    if (configuration?.pushConfig && !this.#takesPush) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
    if (this.#modes) for (const part of message.parts) checkMode(part, this.#modes);
  }
}

function checkMode({ mediaType }: Part, modes: readonly string[]): void {
  if (mediaType === undefined || modes.some((mode) => isCovered(mediaType, mode))) return;
  throw new A2AError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    `This agent takes ${modes.join(', ')}, and not ${mediaType}`,
    {
      details: { mediaType },
    },
  );
}

/** True when a media type is the mode or of its kind: `image/*`, `text` and whatever follows a semicolon included. */
function isCovered(mediaType: string, mode: string): boolean {
  const type = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  const wanted = mode.toLowerCase();
  if (wanted === '*/*' || wanted === '*' || wanted === type) return true;
  const kind = wanted.endsWith('/*') ? wanted.slice(0, -1) : wanted.includes('/') ? undefined : `${wanted}/`;
  return kind !== undefined && type.startsWith(kind);
}
