import type { Command } from 'commander';
import { printWarning } from '../../terminal/print-error.ts';
import { withCatalog } from '../../client/session.ts';

/** Runs `dragoman card list`. */
export async function runCardListCommand(command: Command): Promise<void> {
  await withCatalog(command, ({ url, agents, omitted }, out, { verbose }) => {
    if (omitted > 0) printWarning(`${omitted} entries of the catalog are left out: invalid, or too many`);
    if (out.isJson) {
      out.json({ catalog: url, agents, omitted });
      return;
    }
    out.field('Catalog', url);
    out.field('Agents', agents.length);
    for (const { name, identifier, description, version, tags, cardUrl } of agents) {
      out.gap();
      out.field('Name', name);
      out.field('Card', cardUrl ?? `in the catalog, as ${url}#${encodeURIComponent(name)}`);
      out.field('Version', version);
      out.field('Description', description);
      if (tags.length > 0) out.field('Tags', tags.join(', '));
      if (verbose) out.field('Identifier', identifier);
    }
  });
}
