import { isJsonObject, type JsonObject } from '../../../src/primitives/json.ts';
import { isUrl } from '../../../src/primitives/web/parse-url.ts';

/**
 * The SARIF 2.1.0 schema as a table.
 *
 * A property is `name: kind`; `!` after the kind means required. Kinds: `text`, `flag`, `number`, `whole` (any integer),
 * `count` (from 0), `line` (from 1), `place` (from -1), `uri`, `reference` (absolute or relative URI), `time` (UTC),
 * `guid`, `a|b` (enumeration), the name of another object. Suffixes: `[]` for a list, `[*]` for a list of unique items,
 * `{}` for a map.
 */
const objects: { readonly [name: string]: string } = {
  log: '$schema: uri, version: 2.1.0!, runs: run[]!, inlineExternalProperties: bag[*]',
  run: `tool: tool!, invocations: invocation[], conversion: conversion, language: text,
    versionControlProvenance: versionControl[*], originalUriBaseIds: artifactLocation{}, artifacts: artifact[*],
    logicalLocations: logicalLocation[*], graphs: bag[*], results: result[], automationDetails: automation,
    runAggregates: automation[*], baselineGuid: guid, redactionTokens: text[*], defaultEncoding: text,
    defaultSourceLanguage: text, newlineSequences: text[*], columnKind: utf16CodeUnits|unicodeCodePoints,
    externalPropertyFileReferences: bag, threadFlowLocations: bag[*], taxonomies: component[*], addresses: address[],
    translations: component[*], policies: component[*], webRequests: webRequest[*], webResponses: webResponse[*],
    specialLocations: bag`,
  automation: 'description: message, id: text, guid: guid, correlationGuid: guid',
  versionControl: `repositoryUri: uri!, revisionId: text, branch: text, revisionTag: text, asOfTimeUtc: time,
    mappedTo: artifactLocation`,
  conversion: 'tool: tool!, invocation: invocation, analysisToolLogFiles: artifactLocation[*]',
  tool: 'driver: component!, extensions: component[*]',
  component: `guid: guid, name: text!, organization: text, product: text, productSuite: text, shortDescription: words,
    fullDescription: words, fullName: text, version: text, semanticVersion: text, dottedQuadFileVersion: text,
    releaseDateUtc: text, downloadUri: uri, informationUri: uri, globalMessageStrings: words{},
    notifications: descriptor[*], rules: descriptor[*], taxa: descriptor[*], locations: artifactLocation[],
    language: text, contents: text[*], isComprehensive: flag, localizedDataSemanticVersion: text,
    minimumRequiredLocalizedDataSemanticVersion: text, associatedComponent: componentReference,
    translationMetadata: bag, supportedTaxonomies: componentReference[*]`,
  componentReference: 'name: text, index: place, guid: guid',
  descriptor: `id: text!, deprecatedIds: text[*], guid: guid, deprecatedGuids: guid[*], name: text,
    deprecatedNames: text[*], shortDescription: words, fullDescription: words, messageStrings: words{},
    defaultConfiguration: configuration, helpUri: uri, help: words, relationships: relationship[*]`,
  configuration: 'enabled: flag, level: none|note|warning|error, rank: number, parameters: bag',
  relationship: 'target: descriptorReference!, kinds: text[*], description: message',
  descriptorReference: 'id: text, index: place, guid: guid, toolComponent: componentReference',
  invocation: `commandLine: text, arguments: text[], responseFiles: artifactLocation[*], startTimeUtc: time,
    endTimeUtc: time, exitCode: whole, ruleConfigurationOverrides: override[*],
    notificationConfigurationOverrides: override[*], toolExecutionNotifications: notification[],
    toolConfigurationNotifications: notification[], exitCodeDescription: text, exitSignalName: text,
    exitSignalNumber: whole, processStartFailureMessage: text, executionSuccessful: flag!, machine: text, account: text,
    processId: whole, executableLocation: artifactLocation, workingDirectory: artifactLocation,
    environmentVariables: text{}, stdin: artifactLocation, stdout: artifactLocation, stderr: artifactLocation,
    stdoutStderr: artifactLocation`,
  override: 'configuration: configuration!, descriptor: descriptorReference!',
  notification: `locations: location[*], message: message!, level: none|note|warning|error, threadId: whole,
    timeUtc: time, exception: exception, descriptor: descriptorReference, associatedRule: descriptorReference`,
  exception: 'kind: text, message: text, stack: bag, innerExceptions: exception[]',
  result: `ruleId: text, ruleIndex: place, rule: descriptorReference,
    kind: notApplicable|pass|fail|review|open|informational, level: none|note|warning|error, message: message!,
    analysisTarget: artifactLocation, locations: location[], guid: guid, correlationGuid: guid, occurrenceCount: line,
    partialFingerprints: text{}, fingerprints: text{}, stacks: bag[*], codeFlows: bag[], graphs: bag[*],
    graphTraversals: bag[*], relatedLocations: location[*], suppressions: suppression[*],
    baselineState: new|unchanged|updated|absent, rank: number, attachments: bag[*], hostedViewerUri: uri,
    workItemUris: uri[*], provenance: bag, fixes: bag[*], taxa: descriptorReference[*], webRequest: webRequest,
    webResponse: webResponse`,
  suppression: `guid: guid, kind: inSource|external!, status: accepted|underReview|rejected, justification: text,
    location: location`,
  message: 'text: text, markdown: text, id: text, arguments: text[]',
  words: 'text: text!, markdown: text',
  location: `id: place, physicalLocation: physicalLocation, logicalLocations: logicalLocation[*], message: message,
    annotations: region[*], relationships: bag[*]`,
  physicalLocation: `address: address, artifactLocation: artifactLocation, region: region, contextRegion: region`,
  logicalLocation: `name: text, index: place, fullyQualifiedName: text, decoratedName: text, parentIndex: place,
    kind: text`,
  artifactLocation: 'uri: reference, uriBaseId: text, index: place, description: message',
  artifact: `description: message, location: artifactLocation, parentIndex: place, offset: count, length: place,
    roles: text[*], mimeType: text, contents: content, encoding: text, sourceLanguage: text, hashes: text{},
    lastModifiedTimeUtc: time`,
  content: 'text: text, binary: text, rendered: words',
  region: `startLine: line, startColumn: line, endLine: line, endColumn: line, charOffset: place, charLength: count,
    byteOffset: place, byteLength: count, snippet: content, message: message, sourceLanguage: text`,
  address: `absoluteAddress: place, relativeAddress: whole, length: whole, kind: text, name: text,
    fullyQualifiedName: text, offsetFromParent: whole, index: place, parentIndex: place`,
  webRequest: `index: place, protocol: text, version: text, target: text, method: text, headers: text{},
    parameters: text{}, body: content`,
  webResponse: `index: place, protocol: text, version: text, statusCode: whole, reasonPhrase: text, headers: text{},
    body: content, noResponseReceived: flag`,
};

/** Properties of which an object needs at least one. */
const oneOf: { readonly [name: string]: readonly string[] } = {
  message: ['text', 'id'],
  physicalLocation: ['address', 'artifactLocation'],
  region: ['startLine', 'charOffset', 'byteOffset'],
  descriptorReference: ['index', 'guid', 'id'],
};

const isWhole = (value: unknown, from: number): boolean => Number.isInteger(value) && Number(value) >= from;
/** RFC 3986 does not allow spaces, quotes, angle brackets or non-ASCII letters. */
const isReference = (value: unknown): boolean =>
  typeof value === 'string' &&
  /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[\da-fA-F]{2})*$/.test(value) &&
  isUrl(value, 'https://base.example');

const kinds: { readonly [kind: string]: (value: unknown) => boolean } = {
  text: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  whole: (value) => Number.isInteger(value),
  place: (value) => isWhole(value, -1),
  count: (value) => isWhole(value, 0),
  line: (value) => isWhole(value, 1),
  reference: isReference,
  uri: (value) => isReference(value) && /^[a-z][\w+.-]*:/i.test(String(value)),
  time: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(String(value)),
  guid: (value) =>
    /^[\da-f]{8}-[\da-f]{4}-[1-5][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i.test(String(value)),
};

/** Returns all violations of SARIF 2.1.0 in a log. */
export function sarifErrors(log: unknown): string[] {
  const errors = objectErrors('log', log, 'log');
  return errors.length > 0 ? errors : (log as { runs: JsonObject[] }).runs.flatMap(runErrors);
}

function objectErrors(name: string, value: unknown, at: string): string[] {
  if (!isJsonObject(value)) return [`${at} is no object`];
  if (name === 'bag') return tagErrors(value, at);
  const members = (objects[name] ?? '').split(',').map((each) => each.trim().split(': '));
  const errors: string[] = [];
  for (const [member = '', kind = ''] of members) {
    if (value[member] === undefined) {
      if (kind.endsWith('!')) errors.push(`${at}.${member} is missing`);
    } else errors.push(...valueErrors(kind.replace('!', ''), value[member], `${at}.${member}`));
  }
  if (value.properties !== undefined)
    errors.push(...objectErrors('bag', value.properties, `${at}.properties`));
  for (const member of Object.keys(value))
    if (member !== 'properties' && !members.some(([known]) => known === member))
      errors.push(`${at}.${member} is unknown`);
  const needed = oneOf[name];
  if (needed && !needed.some((member) => member in value))
    errors.push(`${at} has none of ${needed.join(', ')}`);
  return errors;
}

function valueErrors(kind: string, value: unknown, at: string): string[] {
  const [, inner = kind, form = ''] = /^(.*?)(\[\*?\]|\{\})?$/.exec(kind) ?? [];
  if (form.startsWith('[')) {
    if (!Array.isArray(value)) return [`${at} is not a list`];
    const hasDuplicates = new Set(value.map((each) => JSON.stringify(each))).size < value.length;
    return [
      ...(form === '[*]' && hasDuplicates ? [`${at} has duplicate items`] : []),
      ...value.flatMap((each, index) => valueErrors(inner, each, `${at}[${index}]`)),
    ];
  }
  if (form === '{}') {
    if (!isJsonObject(value)) return [`${at} is no object`];
    return Object.entries(value).flatMap(([key, each]) => valueErrors(inner, each, `${at}.${key}`));
  }
  if (inner === 'bag' || inner in objects) return objectErrors(inner, value, at);
  const isValid = kinds[inner] ?? ((word: unknown) => inner.split('|').includes(String(word)));
  return isValid(value) ? [] : [`${at} is ${JSON.stringify(value)}, not ${inner}`];
}

function tagErrors({ tags }: JsonObject, at: string): string[] {
  return tags === undefined ? [] : valueErrors('text[*]', tags, `${at}.tags`);
}

interface Run extends JsonObject {
  tool: { driver: { rules?: { id: string }[] } };
  results?: { ruleId?: string; ruleIndex?: number; kind?: string; level?: string }[];
  originalUriBaseIds?: JsonObject;
}

/** Checks references, which the schema cannot express. */
function runErrors(run: JsonObject): string[] {
  const { tool, results = [], originalUriBaseIds = {} } = run as Run;
  const rules = tool.driver.rules ?? [];
  const ids = rules.map(({ id }) => id);
  const errors = ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `duplicate rule ${id}`);
  for (const [index, { ruleId, ruleIndex = -1, kind = 'fail', level }] of results.entries()) {
    if (ruleIndex >= rules.length) errors.push(`result ${index}: ruleIndex out of range`);
    else if (ruleIndex >= 0 && ruleId !== undefined && rules[ruleIndex]?.id !== ruleId)
      errors.push(`result ${index}: ruleId ${ruleId} does not match ruleIndex (${rules[ruleIndex]?.id})`);
    if (kind !== 'fail' && level !== undefined && level !== 'none')
      errors.push(`result ${index}: kind ${kind} must not have level ${level}`);
  }
  visitObjects(run, (value) => {
    const { uri, uriBaseId, startLine, endLine, startColumn, endColumn, text } = value;
    const isAbsolute = /^[a-z][\w+.-]*:/i.test(String(uri));
    if (uriBaseId !== undefined && isAbsolute)
      errors.push(`absolute URI ${String(uri)} must not have a uriBaseId`);
    if (typeof uriBaseId === 'string' && !(uriBaseId in originalUriBaseIds))
      errors.push(`unknown uriBaseId ${uriBaseId}`);
    if (Number(endLine) < Number(startLine)) errors.push('a region ends before it begins');
    if (
      endColumn !== undefined &&
      (endLine ?? startLine) === startLine &&
      Number(endColumn) < Number(startColumn ?? 1)
    )
      errors.push('a region ends before it begins');
    if (text === '') errors.push('a message is empty');
  });
  return errors;
}

function visitObjects(value: unknown, visit: (value: JsonObject) => void): void {
  if (isJsonObject(value)) visit(value);
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) visitObjects(inner, visit);
}
