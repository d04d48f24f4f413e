import type { ReportViolation } from './demand.ts';

/** Fields that are set depending on a sibling field, the discriminator. */
export interface Union {
  readonly discriminator: string;
  readonly members: readonly Member[];
  /** Values of the discriminator without a member. */
  readonly others?: readonly string[];
}

export interface Member {
  readonly name: string;
  /** The values of the discriminator that the member belongs to. */
  readonly types: readonly string[];
  /** Set if the member may be absent with these values. */
  readonly need?: 'optional';
}

/** Creates a union in which each value of the discriminator requires its own member: type → member. */
export function unionOf(discriminator: string, members: Readonly<Record<string, string>>): Union {
  return { discriminator, members: Object.entries(members).map(([type, name]) => ({ name, types: [type] })) };
}

/** Returns whether a member is set, or may be set because it is unreadable. */
type IsSet = (member: string) => boolean;

/**
 * Reports members that are missing, or that are set although the discriminator excludes them. An unknown value of the
 * discriminator has no violations, because its member is unknown.
 */
export function unionViolations(
  union: Union,
  object: object,
  report: ReportViolation,
  isSet: IsSet = (member) => Object.hasOwn(object, member),
): void {
  const { discriminator, members, others = [] } = union;
  const type = discriminatorOf(object, discriminator);
  if (type === undefined || !(others.includes(type) || members.some(({ types }) => types.includes(type)))) return;
  const wrong = members.filter(({ name, types, need }) =>
    types.includes(type) ? need === undefined && !isSet(name) : Object.hasOwn(object, name),
  );
  // Almost all unions are valid.
  if (wrong.length === 0) return;
  const missing = wrong.filter(({ types }) => types.includes(type));
  const extra = wrong.filter(({ types }) => !types.includes(type));
  const [wanted] = missing;
  const [other] = extra;
  if (wanted !== undefined && other !== undefined) {
    const cure = `Use ${discriminator}: ${other.types[0]}, or replace ${other.name} with ${wanted.name}.`;
    report({
      below: [discriminator],
      value: type,
      message: `${other.name} conflicts with ${discriminator} ${type}. ${cure}`,
    });
    return;
  }
  for (const { name } of missing) {
    report({ below: [name], message: `${name} is required with ${discriminator}: ${type}. Set ${name}.` });
  }
  for (const { name, types } of extra) {
    const cure = `Remove ${name}, or use ${discriminator}: ${types.join(' or ')}.`;
    report({ below: [name], message: `${name} is not allowed with ${discriminator}: ${type}. ${cure}` });
  }
}

function discriminatorOf(object: object, name: string): string | undefined {
  const type: unknown = Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : undefined;
  return typeof type === 'string' ? type : undefined;
}
