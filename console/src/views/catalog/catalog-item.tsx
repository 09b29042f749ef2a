import type { CatalogEntry, CatalogSkill } from '../../../../src/console/console-api.ts';
import { Badge, VariantBadge } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { routeHref } from '../../session/router.ts';
import { addingUrl, addListedAgent } from './state.ts';

/** Number of skills that are shown before the others. */
const firstSkills = 6;

/** One agent of the catalog. */
export function CatalogItem({ entry }: { entry: CatalogEntry }) {
  const { name, description, url, variants, security, skills, error } = entry;
  return (
    <li class="catalog-item">
      <div class="catalog-head">
        <div class="catalog-title">
          <h2>{name}</h2>
          <code>{url}</code>
        </div>
        <Action entry={entry} />
      </div>
      {description ? <p class="catalog-text">{description}</p> : null}
      {error === undefined ? null : <p class="catalog-error">{error}</p>}
      <div class="catalog-badges">
        {variants.map(({ version, transport }) => (
          <VariantBadge key={`${version}/${transport}`} version={version} transport={transport} />
        ))}
        {security.map((scheme) => (
          <Badge key={scheme} tone="violet">
            requires {scheme}
          </Badge>
        ))}
      </div>
      <Skills skills={skills.slice(0, firstSkills)} />
      {skills.length > firstSkills ? (
        <details class="catalog-more">
          <summary>{skills.length - firstSkills} more skills</summary>
          <Skills skills={skills.slice(firstSkills)} />
        </details>
      ) : null}
    </li>
  );
}

function Action({ entry: { agentId, url, name, error } }: { entry: CatalogEntry }) {
  if (agentId !== undefined)
    return (
      <LinkButton href={routeHref('agents', { agent: agentId })}>
        Open <span class="visually-hidden">{name}</span>
      </LinkButton>
    );
  // An agent whose card cannot be read, for example at a denied address, is not offered.
  if (error !== undefined) return null;
  const isAdding = addingUrl.value === url;
  return (
    <Button disabled={isAdding} onClick={() => void addListedAgent(url)}>
      {isAdding ? 'Connecting…' : 'Add'} <span class="visually-hidden">{name}</span>
    </Button>
  );
}

function Skills({ skills }: { skills: readonly CatalogSkill[] }) {
  if (skills.length === 0) return null;
  return (
    <ul class="catalog-skills">
      {skills.map(({ id, name, description, tags }, at) => (
        <li key={at}>
          <strong>{name}</strong> <code>{id}</code>
          {description === '' ? null : <div class="catalog-text">{description}</div>}
          {tags.length === 0 ? null : (
            <div class="catalog-badges">
              {tags.map((tag, index) => (
                <Badge key={index}>{tag}</Badge>
              ))}
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
