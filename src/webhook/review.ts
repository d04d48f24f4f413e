import { operations, type AdmissionRequest, type AdmissionVerdict, type Denied, type GroupVersionKind } from '../core/admission/types.ts';
import { cleanAuditAnnotations, cleanText, cleanWarnings } from './limits.ts';

/** What a request body turned out to be. */
export type ReadReview =
  | { readonly type: 'request'; readonly request: AdmissionRequest }
  /** No answer can be given, since it would have to echo a uid; `problem` says what was wrong and what to send. */
  | { readonly type: 'malformed'; readonly problem: string };

/**
 * Reads an AdmissionReview of `admission.k8s.io/v1`. Never throws. Objects of any kind and shape are passed on:
 * only what the API server itself writes must be well-formed.
 *
 * @param body the request body as text; undefined if there was none
 * @param budgetMs milliseconds left for the answer
 */
export function readReview(body: unknown, budgetMs: number): ReadReview {
  if (typeof body !== 'string' || body === '') return malformed('the body is empty; send an AdmissionReview of admission.k8s.io/v1 as JSON');
  const review = parseJson(body);
  if (review === undefined) return malformed('the body is not JSON; send an AdmissionReview of admission.k8s.io/v1 as JSON');
  const { apiVersion, kind, request } = asRecord(review);
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') {
    return malformed(
      `expected kind AdmissionReview of apiVersion admission.k8s.io/v1, found kind ${show(kind)} of apiVersion ${show(apiVersion)}; set admissionReviewVersions: ["v1"] in the webhook configuration`,
    );
  }
  return readRequest(asRecord(request), budgetMs);
}

function readRequest(json: Readonly<Record<string, unknown>>, budgetMs: number): ReadReview {
  const uid = text(json['uid']);
  if (uid === '') return malformed('request.uid is missing; an AdmissionReview that asks must have a request with a uid');
  const operation = operations.find((known) => known === json['operation']);
  if (operation === undefined) return malformed(`request.operation is ${show(json['operation'])}; send one of ${operations.join(', ')}`);
  const kind = groupVersionKind(json['kind']);
  if (kind.kind === '') return malformed('request.kind is missing; send the group, version and kind of the object');
  const requestKind = groupVersionKind(json['requestKind']);
  return {
    type: 'request',
    request: {
      uid,
      operation,
      ...kind,
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

/** The AdmissionReview that answers `request`; whatever `verdict` holds, the result respects the API server's limits. */
export function writeReview(request: AdmissionRequest, verdict: AdmissionVerdict): object {
  const { uid } = request;
  const remarks = { warnings: cleanWarnings(verdict.warnings), auditAnnotations: cleanAuditAnnotations(verdict.auditAnnotations) };
  const response = verdict.allowed ? { uid, allowed: true, ...remarks } : { uid, allowed: false, status: denial(request, verdict), ...remarks };
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
      group: request.group,
      kind: request.kind,
      name: request.name === '' ? nameOf(request.object) : request.name,
      causes: causes.map(({ field, message, reason }) => ({ field: cleanText(field), message: cleanText(message), reason })),
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
  return { username: text(username), groups: Array.isArray(groups) ? groups.filter((group): group is string => typeof group === 'string') : [] };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function asRecord(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
}

function text(json: unknown): string {
  return typeof json === 'string' ? json : '';
}

function show(json: unknown): string {
  return typeof json === 'string' ? JSON.stringify(json.slice(0, 64)) : json === undefined ? 'missing' : `a ${typeof json}`;
}

function malformed(problem: string): ReadReview {
  return { type: 'malformed', problem };
}
