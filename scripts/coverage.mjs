// Writes which requirement is looked after by which rule, out of what was built, to docs/reference/.
import { readFileSync, writeFileSync } from 'node:fs';
import { coverageOf, coveragePage } from '../dist/conformance/catalogue.js';
import { allChecks } from '../dist/conformance/checks/index.js';
import { allInvariants } from '../dist/conformance/invariants/index.js';
import { waivers } from '../dist/conformance/waivers.js';

const requirements = JSON.parse(readFileSync('requirements/a2a-1.0.1.json', 'utf8'));
const coverage = coverageOf(requirements, [...allChecks, ...allInvariants], waivers);
writeFileSync('docs/reference/conformance-coverage.md', coveragePage(coverage));
