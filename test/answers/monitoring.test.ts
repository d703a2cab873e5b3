import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { parseScrape, type Sample } from '../harness/prometheus-text.ts'
import { findProgram } from '../harness/proxy-program.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { portForTests } from '../harness/ports.ts'

const folder = join(import.meta.dirname, '..', '..', 'deploy', 'monitoring')
const promtool = findProgram('promtool')

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[]
}
interface Dashboard {
  readonly uid: string
  readonly schemaVersion: number
  readonly panels: readonly Panel[]
}
interface Rules {
  readonly groups: readonly { readonly rules: readonly Rule[] }[]
}
interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string
      readonly exp_alerts: readonly unknown[]
    }[]
  }[]
}
interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly action: string }
}

describe('monitoring', () => {
  let product: TestProduct
  let known: Set<string>
  let fresh: Sample[]

  before(async () => {
    const port = await portForTests()
    product = await productForTests({ settings: { METRICS_PORT: String(port) } })
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    fresh = parseScrape(text)
    known = new Set(text.matchAll(/^# TYPE (\S+)/gm).map(([, name = '']) => name))
  })
  after(async () => await product[Symbol.asyncDispose]())

  function checkNames(expression: string): void {
    for (const [name] of expression.matchAll(/\b(intercept|process|nodejs)_[a-z0-9_]+/g)) {
      const base = name.replace(/_(bucket|sum|count)$/, '')
      assert.ok(known.has(name) || known.has(base), `${name} in ${expression}`)
    }
  }

  test('each alert names metrics that exist, its severity, what happened and what to do', () => {
    const { groups } = parse(read('alerts.yaml')) as Rules
    const rules = groups.flatMap((group) => group.rules)
    const page = readFileSync(join(folder, '..', '..', 'docs', 'operate', 'monitoring.md'), 'utf8')
    for (const { alert, labels } of rules) {
      assert.match(page, new RegExp(`^\\| \`${alert}\` \\|.*\\| ${labels.severity} \\|`, 'm'))
    }
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
    for (const { alert, expr, labels, annotations } of rules) {
      assert.match(alert, /^Intercept[A-Z]/)
      assert.match(labels.severity, /^(page|ticket)$/)
      assert.ok(annotations.summary.endsWith('.') && annotations.action.endsWith('.'), alert)
      checkNames(expr)
    }
  })

  test('what an alert waits for exists before it first happens, so that the first time is an increase', () => {
    const { groups } = parse(read('alerts.yaml')) as Rules
    const watched = groups
      .flatMap((group) => group.rules)
      .flatMap(({ expr }) => [
        ...expr.matchAll(/^(?:max\()?increase\((\w+)(?:\{(\w+)="(\w+)"\})?\[/g),
      ])
    assert.ok(watched.length >= 2)
    for (const [, name, label, value] of watched) {
      const series = fresh.filter(
        (sample) => sample.name === name && (label === undefined || sample.labels[label] === value),
      )
      assert.deepEqual(
        series.map((sample) => sample.value),
        [0],
        `${name} ${label} ${value}`,
      )
    }
  })

  test('each alert has a case in which it fires and one in which it does not', () => {
    const { groups } = parse(read('alerts.yaml')) as Rules
    const { tests } = parse(read('alerts.test.yaml')) as RuleTests
    const cases = tests.flatMap(({ alert_rule_test: some }) => some)
    for (const { alert } of groups.flatMap((group) => group.rules)) {
      const own = cases.filter(({ alertname }) => alertname === alert)
      for (const fires of [true, false]) {
        const found = own.some(({ exp_alerts: expected }) => expected.length > 0 === fires)
        assert.ok(found, `${alert} ${fires ? 'fires' : 'stays silent'} in no test`)
      }
    }
  })

  test('the Grafana dashboard is whole: panels have ids, places and expressions that exist', () => {
    const { uid, schemaVersion, panels } = JSON.parse(read('grafana-dashboard.json')) as Dashboard
    assert.equal(uid, 'intercept')
    assert.ok(Number.isInteger(schemaVersion))
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    for (const { type, title, gridPos, targets } of panels) {
      assert.ok(title !== '' && ['row', 'stat', 'timeseries'].includes(type), title)
      assert.ok(gridPos.x + gridPos.w <= 24 && gridPos.h > 0, title)
      if (type !== 'row') assert.ok(targets?.length, title)
      for (const { expr } of targets ?? []) checkNames(expr)
    }
    assert.deepEqual(overlapping(panels), [])
  })

  test(
    promtool === undefined
      ? 'promtool checks the rules: skipped, promtool is not installed'
      : 'promtool finds the rules and the settings good, and their tests pass',
    { skip: promtool === undefined && 'promtool is not installed' },
    (t) => {
      const checks = [
        ['check', 'rules', 'alerts.yaml'],
        ['check', 'config', 'prometheus.yaml'],
        ['test', 'rules', 'alerts.test.yaml'],
      ]
      for (const words of checks) {
        const done = spawnSync(promtool ?? '', words, { cwd: folder, encoding: 'utf8' })
        assert.equal(done.status, 0, `${done.stdout}${done.stderr}`)
        t.diagnostic(`promtool ${words.join(' ')}: ${done.stdout.replaceAll(/\s+/g, ' ')}`)
      }
    },
  )
})

function read(name: string): string {
  return readFileSync(join(folder, name), 'utf8')
}

function overlapping(panels: readonly Panel[]): string[] {
  const meets = ({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean =>
    a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
  return panels.flatMap((one, at) =>
    panels
      .slice(at + 1)
      .filter((other) => meets(one, other))
      .map((other) => `${one.title} over ${other.title}`),
  )
}
