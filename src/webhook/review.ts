import {
  operations,
  type AdmissionRequest,
  type AdmissionVerdict,
  type Denied,
  type GroupVersionKind,
} from '../core/admission/types.ts';
import type { Steps } from '../core/text/steps.ts';
import type { Body } from './body.ts';
import { BodyScan, maxBytes, maxNames, type Scan, type ScannedObject } from './body-scan.ts';
import { cleanAuditAnnotations, cleanName, cleanText, cleanWarnings } from './limits.ts';

/** The result of parsing a request body. */
export type ReadReview =
  | { readonly type: 'request'; readonly request: AdmissionRequest }
  /** A response would have to echo a uid, so none is possible; `problem` names the error and the fix. */
  | { readonly type: 'malformed'; readonly problem: string };

/**
 * Parses an AdmissionReview of `admission.k8s.io/v1`. A large one is parsed in steps: first its bytes are scanned, then
 * each of its objects is parsed. Never throws. Accepts objects of any kind and shape: only the fields that the API
 * server itself writes must be well-formed.
 *
 * @param body the request body; undefined if there was none
 * @param budgetMs milliseconds left for the response
 */
export function* readReview(body: Body | undefined, budgetMs: number): Steps<ReadReview> {
  if (body === undefined || body.chunks.every(({ length }) => length === 0))
    return malformed('the body is empty; send an AdmissionReview of admission.k8s.io/v1 as JSON');
  if (body.isLarge) return yield* readInParts(body.chunks, budgetMs);
  const review = parseJson(joined(body.chunks).toString());
  return review === notJson ? noJson : readHead(asRecord(review), budgetMs);
}

/** Most bodies arrive in one piece, which needs no copy. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

function* readInParts(chunks: readonly Buffer[], budgetMs: number): Steps<ReadReview> {
  const scan = yield* scanned(chunks);
  const { object, oldObject, problem } = scan;
  if (problem !== undefined) return malformed(`the body ${problem}; send an AdmissionReview of admission.k8s.io/v1`);
  const bytes = Buffer.concat(chunks);
  const review = parseJson(headOf(bytes, scan));
  yield;
  const after = parsePart(bytes, object);
  yield;
  const before = parsePart(bytes, oldObject);
  yield;
  if ([review, after, before].includes(notJson)) return noJson;
  const read = readHead(asRecord(review), budgetMs);
  return read.type === 'malformed' ? read : withObjects(read.request, scan, { after, before });
}

function* scanned(chunks: readonly Buffer[]): Steps<Scan> {
  const scan = new BodyScan();
  for (const chunk of chunks) {
    scan.push(chunk);
    yield;
  }
  return scan.end();
}

const noJson = malformed('the body is not JSON; send an AdmissionReview of admission.k8s.io/v1 as JSON');

function withObjects(
  request: AdmissionRequest,
  { object, oldObject }: Scan,
  { after, before }: { readonly after: unknown; readonly before: unknown },
): ReadReview {
  const own = object === undefined ? {} : { object: after ?? undefined };
  const old = oldObject === undefined ? {} : { oldObject: before ?? undefined };
  return {
    type: 'request',
    request: { ...request, ...own, ...old, ...(object?.isTooLarge === true ? { unread } : {}) },
  };
}

function readHead({ apiVersion, kind, request }: Readonly<Record<string, unknown>>, budgetMs: number): ReadReview {
  if (apiVersion === 'admission.k8s.io/v1' && kind === 'AdmissionReview')
    return readRequest(asRecord(request), budgetMs);
  return malformed(
    `expected kind AdmissionReview of apiVersion admission.k8s.io/v1, found kind ${show(kind)} of apiVersion ${show(apiVersion)}; set admissionReviewVersions: ["v1"] in the webhook configuration`,
  );
}

const unread = `The object has more than ${maxBytes / 2 ** 20} MiB or ${maxNames.toLocaleString('en-US')} different field names, or more values than can be stored, so it cannot be validated. Remove labels, annotations or fields that are not needed.`;

/** The review without its objects. */
function headOf(bytes: Buffer, { object, oldObject }: Scan): string {
  const parts = [object, oldObject].filter((part) => part !== undefined).sort((one, other) => one.start - other.start);
  let text = '';
  let from = 0;
  for (const { start, end } of parts) {
    text += `${bytes.toString('utf8', from, start)}null`;
    from = end;
  }
  return text + bytes.toString('utf8', from);
}

/** Parses one of the objects; undefined if it is absent or too large. */
function parsePart(bytes: Buffer, part: ScannedObject | undefined): unknown {
  return part === undefined || part.isTooLarge ? undefined : parseJson(bytes.toString('utf8', part.start, part.end));
}

/** The API server's uids are 36 characters long. Other values are echoed, too, and so have a limit. */
const longestUid = 256;

function readRequest(json: Readonly<Record<string, unknown>>, budgetMs: number): ReadReview {
  const uid = text(json['uid']);
  if (uid.length > longestUid) return malformed(`request.uid has more than ${longestUid} characters`);
  if (uid === '')
    return malformed('request.uid is missing; an AdmissionReview for the webhook has a request with a uid');
  const operation = operations.find((known) => known === json['operation']);
  if (operation === undefined)
    return malformed(`request.operation is ${show(json['operation'])}; send one of ${operations.join(', ')}`);
  const kind = groupVersionKind(json['kind']);
  if (kind.kind === '') return malformed('request.kind is missing; send the group, version and kind of the object');
  const requestKind = groupVersionKind(json['requestKind']);
  return {
    type: 'request',
    request: {
      uid,
      operation,
      // A spread in the middle of an object takes as long as reading all other fields.
      group: kind.group,
      version: kind.version,
      kind: kind.kind,
      resource: text(asRecord(json['resource'])['resource']),
      subResource: text(json['subResource']),
      requestKind: requestKind.kind === '' ? kind : requestKind,
      name: text(json['name']),
      namespace: text(json['namespace']),
      object: json['object'] ?? undefined,
      oldObject: json['oldObject'] ?? undefined,
      dryRun: json['dryRun'] === true,
      userInfo: readUser(asRecord(json['userInfo'])),
      budgetMs,
    },
  };
}

/** Returns the AdmissionReview that responds to `request`. The result respects the API server's limits, whatever `verdict` contains. */
export function writeReview(request: AdmissionRequest, verdict: AdmissionVerdict): object {
  const { uid } = request;
  const remarks = {
    warnings: cleanWarnings(verdict.warnings),
    auditAnnotations: cleanAuditAnnotations(verdict.auditAnnotations),
  };
  const response = verdict.allowed
    ? { uid, allowed: true, ...remarks }
    : { uid, allowed: false, status: denial(request, verdict), ...remarks };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

/** kubectl prints a list of field paths only for reason `Invalid` with causes in its details. */
function denial(request: AdmissionRequest, { causes, message }: Denied): object {
  return {
    status: 'Failure',
    code: 422,
    reason: 'Invalid',
    message: cleanText(message),
    details: {
      group: cleanName(request.group),
      kind: cleanName(request.kind),
      name: cleanName(request.name === '' ? nameOf(request.object) : request.name),
      causes: causes.map(({ field, message, reason }) => ({
        field: cleanText(field),
        message: cleanText(message),
        reason,
      })),
    },
  };
}

/** The API server sends no name on CREATE with generateName. */
function nameOf(object: unknown): string {
  const metadata = asRecord(asRecord(object)['metadata']);
  return cleanText(text(metadata['name']) || text(metadata['generateName']));
}

function groupVersionKind(json: unknown): GroupVersionKind {
  const { group, version, kind } = asRecord(json);
  return { group: text(group), version: text(version), kind: text(kind) };
}

function readUser({ username, groups }: Readonly<Record<string, unknown>>): AdmissionRequest['userInfo'] {
  return {
    username: text(username),
    groups: Array.isArray(groups) ? groups.filter((group): group is string => typeof group === 'string') : [],
  };
}

const notJson = Symbol('not JSON');

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return notJson;
  }
}

function asRecord(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
}

function text(json: unknown): string {
  return typeof json === 'string' ? json : '';
}

function show(json: unknown): string {
  return typeof json === 'string'
    ? JSON.stringify(json.slice(0, 64))
    : json === undefined
      ? 'missing'
      : `a ${typeof json}`;
}

function malformed(problem: string): ReadReview {
  return { type: 'malformed', problem };
}
