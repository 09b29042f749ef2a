import type { SchemaMigration } from '../postgres/schema.ts';
import type { StoreUrl } from '../url/parse-store-url.ts';

/** Options of {@link migrateStore}. */
interface MigrationOptions {
  /** User of PostgreSQL that gets the rights that a replica needs. */
  readonly role?: string | undefined;
  /** Name of the agent that the store belongs to from now on. */
  readonly agent?: string | undefined;
}

/** Creates the tables of a store, or applies the missing changes to them. */
export async function migrateStore(
  url: Exclude<StoreUrl, { kind: 'memory' }>,
  { role, agent }: MigrationOptions = {},
): Promise<SchemaMigration> {
  if (url.kind === 'sqlite') return migrateSqlite(url.file, agent);
  const { openPostgres } = await import('../postgres/open-postgres.ts');
  const { assignSchema, grantRights, migrateSchema } = await import('../postgres/schema.ts');
  const { connection, schema, schemaName, close } = await openPostgres({ maxConnections: 1, ...url });
  try {
    const migration = await migrateSchema(connection, schemaName);
    const steps = [...migration.steps];
    if (role !== undefined) {
      await grantRights(connection, schemaName, role);
      steps.push(`Grant the rights of a replica to ${role}`);
    }
    if (agent !== undefined) {
      await assignSchema(connection, schema, agent);
      steps.push(assignment(agent));
    }
    return { ...migration, steps };
  } finally {
    await close();
  }
}

const assignment = (agent: string): string => `Give the store to the agent ${agent}`;

async function migrateSqlite(file: string, agent: string | undefined): Promise<SchemaMigration> {
  const { openDatabase } = await import('../sqlite/database.ts');
  const { createSchema, readSchemaVersion } = await import('../sqlite/schema.ts');
  const { assignFile } = await import('../sqlite/sharing/agent-name.ts');
  const database = await openDatabase(file);
  try {
    database.exec('pragma busy_timeout = 5000');
    const from = readSchemaVersion(database);
    createSchema(database);
    const to = readSchemaVersion(database);
    const steps = from === to ? [] : ['Create the tables'];
    if (agent !== undefined) {
      assignFile(database, agent);
      steps.push(assignment(agent));
    }
    return { from, to, steps };
  } finally {
    database.close();
  }
}
