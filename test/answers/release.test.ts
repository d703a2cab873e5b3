import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import {
  bundledComponents,
  installedComponents,
  renderBill,
  renderNotices,
} from '../../deploy/third-party.ts'

const root = join(import.meta.dirname, '..', '..')
const allowed =
  /^(MIT|MIT-0|ISC|Apache-2\.0|BSD-2-Clause|BSD-3-Clause|0BSD|OFL-1\.1|Unlicense|BlueOak-1\.0\.0|\(.*\))$/

interface Workflow {
  readonly permissions: object
  readonly jobs: Readonly<Record<string, Job>>
}
interface Job {
  readonly 'timeout-minutes': number
  readonly 'runs-on': string
  readonly needs?: string
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[]
}

describe('release', () => {
  test('the licence of everything that is bundled for the browser is shipped, word for word', () => {
    const bundled = bundledComponents(root)
    const names = bundled.map(({ name }) => name)
    for (const name of ['react', 'react-dom', 'scheduler', '@tanstack/query-core']) {
      assert.ok(names.includes(name), name)
    }
    const notices = renderNotices(bundled)
    for (const { name, version } of bundled) assert.ok(notices.includes(`${name} ${version} (`))
    assert.match(notices, /SIL Open Font License/i)
    // Each package that the dashboard uses must be in the bundle, and thereby among the notices.
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      devDependencies: Record<string, string>
    }
    const ofDashboard = Object.keys(devDependencies).filter((name) =>
      /^(@base-ui|@tanstack|@fontsource)|^react(-dom)?$/.test(name),
    )
    for (const name of ofDashboard) assert.ok(names.includes(name), name)
  })

  test('every licence is one that may be shipped', () => {
    const all = [...installedComponents(root), ...bundledComponents(root)]
    const wrong = all.filter(({ license }) => !allowed.test(license))
    assert.deepEqual(
      wrong.map(({ name, license }) => `${name}: ${license}`),
      [],
    )
  })

  test('the bill of materials is CycloneDX, names each package once, and is the same each time', () => {
    const product = { name: 'interceptd', version: '1.2.3' }
    const all = [...installedComponents(root), ...bundledComponents(root)]
    const text = renderBill(product, all)
    assert.equal(text, renderBill(product, all))
    const bill = JSON.parse(text) as {
      bomFormat: string
      specVersion: string
      serialNumber: string
      components: { purl: string; 'bom-ref': string; hashes?: { content: string }[] }[]
    }
    assert.deepEqual([bill.bomFormat, bill.specVersion], ['CycloneDX', '1.6'])
    assert.match(
      bill.serialNumber,
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
    )
    const purls = bill.components.map(({ purl }) => purl)
    assert.equal(new Set(purls).size, purls.length)
    assert.ok(purls.some((purl) => /^pkg:npm\/better-sqlite3@\d/.test(purl)))
    for (const { purl, hashes } of bill.components) {
      assert.match(hashes?.[0]?.content ?? '', /^[0-9a-f]{128}$/, purl)
    }
  })

  test('the workflow for hosted CI is limited in rights and time, and runs scripts that exist', () => {
    const path = join(root, '.github', 'workflows', 'ci.yaml')
    const { permissions, jobs } = parse(readFileSync(path, 'utf8')) as Workflow
    assert.deepEqual(permissions, { contents: 'read' })
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    for (const [name, job] of Object.entries(jobs)) {
      assert.ok(job['timeout-minutes'] <= 60 && job['runs-on'].startsWith('ubuntu-'), name)
      if (job.needs !== undefined) assert.ok(job.needs in jobs, name)
      for (const { uses, run } of job.steps) {
        assert.ok((uses === undefined) !== (run === undefined), name)
        if (uses !== undefined) assert.match(uses, /^[\w-]+\/[\w.-]+@v\d/)
        for (const [, script = ''] of (run ?? '').matchAll(/npm run (\w+)/g)) {
          assert.ok(script in scripts, script)
        }
      }
    }
  })

  test('actionlint finds nothing in the workflow for hosted CI, and does find mistakes', () => {
    const workflow = readFileSync(join(root, '.github', 'workflows', 'ci.yaml'), 'utf8')
    const mistakes = [
      ['job-needs', 'needs: test', 'needs: tets'],
      ['expression', 'matrix.node', 'matrix.nodes'],
      ['runner-label', 'ubuntu-24.04', 'ubuntu-2404'],
      ['permissions', 'contents: read', 'contents: reed'],
    ] as const
    const found = actionlint({
      'ci.yaml': workflow,
      ...Object.fromEntries(
        mistakes.map(([kind, from, to]) => [`${kind}.yaml`, workflow.replace(from, to)]),
      ),
    })
    assert.ok(!found.includes('ci.yaml:'), found)
    for (const [kind] of mistakes) {
      assert.match(found, new RegExp(`^${kind}\\.yaml:.*\\[ ${kind} \\]$`, 'm'))
    }
  })
})

/** Runs actionlint, built as WebAssembly, on workflows and returns its output. */
function actionlint(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-workflow-'))
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const program = join(root, 'node_modules', '@tktco', 'node-actionlint', 'bin')
    const words = [join(program, 'node-actionlint.js'), '*.yaml']
    const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' })
    assert.ok(stdout.startsWith(`Checking ${Object.keys(files).length} workflow`), stdout + stderr)
    return stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}
