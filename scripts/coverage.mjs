// Generates docs/reference/conformance-coverage.md (rules by requirement) from dist/.
import { readFileSync, writeFileSync } from 'node:fs';
import { computeCoverage, formatCoveragePage } from '../dist/conformance/coverage/requirement-coverage.js';
import { allChecks } from '../dist/conformance/checks/index.js';
import { allInvariants } from '../dist/conformance/invariants/index.js';
import { waivers } from '../dist/conformance/coverage/waivers.js';

const requirements = JSON.parse(readFileSync('requirements/a2a-1.0.1.json', 'utf8'));
const coverage = computeCoverage(requirements, [...allChecks, ...allInvariants], waivers);
writeFileSync('docs/reference/conformance-coverage.md', formatCoveragePage(coverage));
