/** Task stores and replicas on another version of PostgreSQL than the installed one. */
import { it } from 'vitest';
import { findNpmPostgres } from '../support/store/npm-postgres.ts';
import { describePostgresReplicas } from './fixtures/postgres-replicas.ts';
import { describePostgresTaskStore } from './fixtures/postgres-task-store.ts';

const programs = findNpmPostgres('18.4.0-beta.17');

if (programs === undefined) it.skip('PostgreSQL 18 stores tasks', () => {});
else {
  describePostgresTaskStore('PostgreSQL 18', programs);
  describePostgresReplicas('PostgreSQL 18', { wakeUps: true, programs });
}
