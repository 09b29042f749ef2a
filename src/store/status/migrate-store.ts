import type { SchemaMigration } from '../postgres/schema.ts';
import type { StoreUrl } from '../url/parse-store-url.ts';

/**
 * Creates the tables of a store, or applies the missing changes to them.
 *
 * @param role - user of PostgreSQL that gets the rights that a replica needs.
 */
export async function migrateStore(
  url: Exclude<StoreUrl, { kind: 'memory' }>,
  role?: string,
): Promise<SchemaMigration> {
  if (url.kind === 'sqlite') return migrateSqlite(url.file);
  const { openPostgres } = await import('../postgres/open-postgres.ts');
  const { grantRights, migrateSchema } = await import('../postgres/schema.ts');
  const { connection, schemaName, close } = await openPostgres({ maxConnections: 1, ...url });
  try {
    const migration = await migrateSchema(connection, schemaName);
    if (role === undefined) return migration;
    await grantRights(connection, schemaName, role);
    return { ...migration, steps: [...migration.steps, `Grant the rights of a replica to ${role}`] };
  } finally {
    await close();
  }
}

async function migrateSqlite(file: string): Promise<SchemaMigration> {
  const { openDatabase } = await import('../sqlite/database.ts');
  const { createSchema, readSchemaVersion } = await import('../sqlite/schema.ts');
  const database = await openDatabase(file);
  try {
    database.exec('pragma busy_timeout = 5000');
    const from = readSchemaVersion(database);
    createSchema(database);
    const to = readSchemaVersion(database);
    return { from, to, steps: from === to ? [] : ['Create the tables'] };
  } finally {
    database.close();
  }
}
