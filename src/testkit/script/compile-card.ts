import type { SkillDefinition } from '../../engine/skills/define-skill.ts';
import type { CardDraft } from '../agent/card-draft.ts';
import type { AgentSpec } from './schema/agent-schema.ts';
import { compileSecurityScheme } from './compile-security.ts';

/** Compiles the `agent` section of a script to a card draft. */
export function compileCard(spec: AgentSpec, name: string): CardDraft {
  const { security } = spec;
  return withoutUndefined<CardDraft>({
    name: spec.name ?? name,
    description: spec.description ?? 'Mock agent that plays a script',
    version: spec.version,
    provider: spec.provider,
    documentationUrl: spec.documentation_url,
    iconUrl: spec.icon_url,
    defaultInputModes: spec.input_modes,
    defaultOutputModes: spec.output_modes,
    streaming: spec.streaming,
    pushNotifications: spec.push,
    extensions: spec.extensions,
    skills: spec.skills?.map(({ input_modes: inputModes, output_modes: outputModes, ...skill }) =>
      withoutUndefined<SkillDefinition>({ ...skill, inputModes, outputModes }),
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

/** Removes undefined fields, so that defaults apply. */
function withoutUndefined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
