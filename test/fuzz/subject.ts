import type { Server } from 'node:https';
import type { FastifyInstance } from 'fastify';
import { decisionOf } from '../../src/core/admission/decide.ts';
import { judge, judgeUnevaluated } from '../../src/core/admission/judge.ts';
import type { JudgedFinding } from '../../src/core/admission/judged-finding.ts';
import type { AdmissionPolicy } from '../../src/core/admission/policy.ts';
import { readDocument, type ReadDocument } from '../../src/core/admission/candidate.ts';
import { certificateFacts } from '../../src/certificates/facts.ts';
import { certificateCell, installationCell, objectCell } from '../../src/core/graph/inputs.ts';
import { write, type Delta, type Kernel, type Write } from '../../src/core/incremental/index.ts';
import { configuration } from '../../src/core/routing/emit.ts';
import { isSchemaKind, minors, channels, type Bundle } from '../../src/core/schema/index.ts';
import { statuses } from '../../src/core/status/emit.ts';
import { parseDocuments } from '../../src/files/parse.ts';
import { buildWebhook } from '../../src/webhook/index.ts';
import { emptyEvaluation, installation } from '../support/evaluation.ts';
import { webhookGround } from '../support/webhook.ts';
import { worldObjects } from './world.ts';

/** Everything that objects go through, ready to be tried again and again. */
export interface Subject {
  /** Tries some objects, as JSON texts, together; leaves no trace. Throws what anything throws, and an Error for what must not be said. */
  try(texts: readonly string[], bundle: Bundle): Promise<void>;
  /** Which objects have a status now. */
  statuses(): readonly string[];
  close(): Promise<void>;
}

export const bundles: readonly Bundle[] = minors.flatMap((minor) => channels.map((channel) => ({ minor, channel })));

export async function createSubject(): Promise<Subject> {
  const kernel = emptyEvaluation();
  const base = worldObjects.map((json) => readDocument(json, { minor: '1.7', channel: 'experimental' }));
  kernel.apply([write(installationCell, [], { ...installation, hostnamePolicies: true }), ...base.flatMap(writesOf)]);
  let policy: AdmissionPolicy = policyFor({ minor: '1.7', channel: 'standard' });
  const ground = await webhookGround();
  const app = buildWebhook({
    ...ground,
    decide: (request) => decisionOf(request, { kernel, policy, mayContinue: () => true }),
  });
  await app.ready();
  return {
    async try(texts, bundle) {
      policy = policyFor(bundle);
      for (const text of texts) readFile(text);
      const read = texts.map((text) => readDocument(JSON.parse(text), bundle));
      const written = read.flatMap(writesOf);
      try {
        inspectDelta(kernel.apply(written));
        for (const [position, document] of read.entries())
          inspect(judgeAny(kernel, document, { json: JSON.parse(texts[position] ?? ''), policy }));
      } finally {
        kernel.apply([
          ...written.map(({ input, args }): Write => write(input, args, undefined)),
          ...base.flatMap(writesOf),
        ]);
      }
      await askWebhook(app, texts, ground.logged);
    },
    statuses: () => [...kernel.emitted(statuses).keys()],
    close: () => app.close(),
  };
}

function policyFor(bundle: Bundle): AdmissionPolicy {
  return { profile: 'strict', overrides: {}, bundle };
}

function writesOf(document: ReadDocument): readonly Write[] {
  if (document.type !== 'candidate') return [];
  const { json, resource } = document.candidate;
  const { kind, namespace, name } = resource.ref;
  const object = write(objectCell, [kind, namespace, name], resource);
  return kind === 'Secret' ? [object, write(certificateCell, [namespace, name], certificateFacts(json))] : [object];
}

/** The text as a file of YAML; parsing large ones takes most of the time and finds nothing that small ones do not. */
function readFile(text: string): void {
  if (text.length > 20_000) return;
  for (const { locate } of parseDocuments(text, 'fuzz.yaml').documents) locate(['spec', 'rules', 0]);
}

function judgeAny(
  kernel: Kernel,
  document: ReadDocument,
  { json, policy }: { readonly json: unknown; readonly policy: AdmissionPolicy },
): readonly JudgedFinding[] {
  if (document.type === 'candidate') return judge(kernel.read, document.candidate, policy);
  if (document.type !== 'unserved' || !isSchemaKind(document.ref.kind)) return [];
  return judgeUnevaluated(
    emptyEvaluation().read,
    { kind: document.ref.kind, apiVersion: document.apiVersion, json },
    policy,
  );
}

/** A rule that throws is caught, and says so. */
function inspect(findings: readonly JudgedFinding[]): void {
  for (const { rule, message } of findings) {
    if (message.startsWith('This rule could not judge')) throw new Error(`${rule}: ${message}`);
    if (/[\p{Cc}\p{Cs}]/u.test(message))
      throw new Error(`${rule} says what nobody can see: ${JSON.stringify(message)}`);
  }
}

/** What goes to the API server and to data planes must be JSON. */
function inspectDelta(delta: Delta): void {
  for (const emission of [statuses, configuration] as const) JSON.stringify([...delta.of<unknown>(emission).upserted]);
}

/** Every text as a new object, and as the successor of its neighbour. */
async function askWebhook(app: FastifyInstance<Server>, texts: readonly string[], logged: string[]): Promise<void> {
  for (const [position, text] of texts.entries()) {
    const old = texts[position + 1];
    const { apiVersion, kind, metadata } = Object(JSON.parse(text)) as Record<string, unknown>;
    const [group, version] =
      typeof apiVersion === 'string' && apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', 'v1'];
    const { name, namespace } = Object(metadata) as Record<string, unknown>;
    const operation = old === undefined ? 'CREATE' : 'UPDATE';
    const rest = JSON.stringify({
      uid: 'fuzz',
      operation,
      kind: { group, version, kind: textIn(kind) },
      name: textIn(name),
      namespace: textIn(namespace),
      userInfo: {},
    });
    const payload = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"object":${text},"oldObject":${old ?? 'null'},${rest.slice(1)}}`;
    const { statusCode, body } = await app.inject({
      method: 'POST',
      url: '/validate',
      headers: { 'content-type': 'application/json' },
      payload,
    });
    // 400: the review names no kind. 413: the API server sends none that large.
    if (![200, 400, 413].includes(statusCode))
      throw new Error(`the webhook answered ${statusCode}: ${body}${logged.join('')}`);
    logged.length = 0;
  }
}

function textIn(json: unknown): string {
  return typeof json === 'string' ? json : '';
}
