import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBuildSteps, readFinalStage } from './dockerfile.ts';

describe('the Dockerfile of the project', () => {
  const stage = readFinalStage(readFileSync(join(import.meta.dirname, '../../deploy/Dockerfile'), 'utf8'));

  test('starts the bundle that it copies, without a shell', () => {
    expect(stage.entrypoint).toEqual(['/nodejs/bin/node', '/app/dist/sallyport.js']);
    expect(stage.copies).toContainEqual({ sources: ['dist/*.js', 'dist/*.js.map'], destination: '/app/dist/' });
  });

  test('runs as a number that is not root, so that runAsNonRoot can check it', () => {
    expect(stage.user).toBe('65532:65532');
  });
});

describe('the last stage', () => {
  const before = 'FROM a AS build\nWORKDIR /src\nCOPY . .\nRUN make\n';

  test('is read with continued lines, comments, and destinations below WORKDIR', () => {
    expect(
      readFinalStage(
        `${before}# last\nFROM b\nWORKDIR /app\nCOPY --from=build /src/a \\\n  /src/b ./\nCOPY --from=build /src/c d\nENV A=1 B=2\nUSER 1:1\nENTRYPOINT ["/a"]\n`,
      ),
    ).toEqual({
      copies: [
        { sources: ['a', 'b'], destination: '/app/' },
        { sources: ['c'], destination: '/app/d' },
      ],
      workingDirectory: '/app',
      environment: ['A=1', 'B=2'],
      user: '1:1',
      entrypoint: ['/a'],
    });
  });

  test.each([
    ['RUN npm ci', 'RUN in the last stage'],
    ['COPY dist /app/', 'write COPY --from=STAGE'],
    ['COPY --from=other /src/a /app/', 'write COPY --from=STAGE'],
    ['COPY --from=build /etc/passwd /etc/', '/etc/passwd must be a file'],
    ['COPY --from=build /src/dist/ /app/', '/src/dist/ must be a file'],
  ])('refuses %s', (line, message) => {
    expect(() => readFinalStage(`${before}FROM b\n${line}\n`)).toThrow(message);
  });
});

describe('the stages before', () => {
  const last = 'FROM b\nUSER 1:1\n';

  test('copy the project and run commands', () => {
    expect(readBuildSteps(`FROM a AS build\nWORKDIR /src\nCOPY . .\nRUN make \\\n  build\nRUN ls\n${last}`)).toEqual({
      commands: ['make build', 'ls'],
    });
  });

  test('of the project build it', () => {
    expect(readBuildSteps(readFileSync(join(import.meta.dirname, '../../deploy/Dockerfile'), 'utf8'))).toEqual({
      commands: ['make build CI=true'],
    });
  });

  test.each(['COPY package.json .', 'RUN before the project', 'ADD https://example.com/a /a', 'ENV A=1'])(
    'refuse %s',
    (line) => {
      expect(() => readBuildSteps(`FROM a AS build\n${line}\nCOPY . .\n${last}`)).toThrow('in an earlier stage');
    },
  );
});
