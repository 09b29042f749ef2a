import type { SkillDefinition } from '../../engine/agent-definition.ts';
import type { CardDraft } from '../agent/card-draft.ts';
import type { AgentSpec } from './schema/agent-schema.ts';
import { compileSecurityScheme } from './compile-security.ts';

/** Reads what the card says. */
export function compileCard(form: AgentSpec, name: string): CardDraft {
  const { security } = form;
  return present<CardDraft>({
    name: form.name ?? name,
    description: form.description ?? 'A test agent that plays a script',
    version: form.version,
    provider: form.provider,
    documentationUrl: form.documentation_url,
    iconUrl: form.icon_url,
    defaultInputModes: form.input_modes,
    defaultOutputModes: form.output_modes,
    streaming: form.streaming,
    pushNotifications: form.push,
    extensions: form.extensions,
    skills: form.skills?.map(({ input_modes: inputModes, output_modes: outputModes, ...skill }) =>
      present<SkillDefinition>({ ...skill, inputModes, outputModes }),
    ),
    securitySchemes:
      security &&
      Object.fromEntries(
        Object.entries(security.schemes).map(([key, scheme]) => [key, compileSecurityScheme(scheme)]),
      ),
    securityRequirements:
      security && (security.required ?? Object.keys(security.schemes).map((scheme) => ({ [scheme]: [] }))),
  });
}

/** Leaves out what was not said, so that defaults hold. */
function present<Thing extends object>(members: Thing): Thing {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Thing;
}
