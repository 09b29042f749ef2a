import type { CardFinding } from '../../../../src/console/console-api.ts';
import type { AgentSkill } from '../../../../src/protocol/card.ts';
import { Badge } from '../../components/badge.tsx';
import { selectedAgent } from '../../session/agents.ts';
import { routeHref } from '../../session/router.ts';
import { FindingMarks } from './finding-marks.tsx';
import { findingsAt } from './findings-by-field.ts';
import { MediaTypes } from './media-types.tsx';

/** Maximum number of rendered skills. */
const maxShown = 100;

export function Skills({
  skills,
  findings,
}: {
  skills: readonly AgentSkill[];
  findings: readonly CardFinding[];
}) {
  const ofTheList = findings.filter(({ path }) => path === 'skills');
  return (
    <div class="agents-skills">
      <h4>
        Skills <small>{skills.length}</small>
      </h4>
      <FindingMarks findings={ofTheList} />
      {skills.slice(0, maxShown).map((skill, at) => (
        <Skill key={at} skill={skill} findings={findingsAt(findings, `skills[${at}]`)} />
      ))}
      {skills.length > maxShown ? <p class="agents-small">and {skills.length - maxShown} more</p> : null}
    </div>
  );
}

function Skill({ skill, findings }: { skill: AgentSkill; findings: readonly CardFinding[] }) {
  return (
    <div class={findings.length > 0 ? 'agents-skill agents-row-marked' : 'agents-skill'}>
      <div class="agents-skill-head">
        <strong>{skill.name}</strong> <code>{skill.id}</code>
      </div>
      {skill.description ? <div class="agents-text">{skill.description}</div> : null}
      {skill.tags.length > 0 ? (
        <div class="agents-badges">
          {skill.tags.map((tag, at) => (
            <Badge key={at}>{tag}</Badge>
          ))}
        </div>
      ) : null}
      {skill.examples?.length ? (
        <ul class="agents-examples">
          {skill.examples.map((example, at) => (
            <li key={at}>
              <a
                href={routeHref('requests', { agent: selectedAgent.value?.id, text: example })}
                title="Open in the request editor"
              >
                {example}
              </a>
            </li>
          ))}
        </ul>
      ) : null}
      {skill.inputModes?.length || skill.outputModes?.length ? (
        <div class="agents-small">
          input <MediaTypes modes={skill.inputModes ?? []} /> output{' '}
          <MediaTypes modes={skill.outputModes ?? []} />
        </div>
      ) : null}
      <FindingMarks findings={findings} />
    </div>
  );
}
