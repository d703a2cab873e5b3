import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cell } from './export.ts'

test('no cell of a file is a formula, wherever the spreadsheet’s language divides a line', () => {
  for (const start of ['=', '+', '-', '@']) {
    assert.equal(cell(`${start}cmd`), `'${start}cmd`)
    assert.equal(cell(`/a;${start}cmd;b`), `/a;'${start}cmd;b`)
    assert.equal(cell(`a\t${start}cmd`), `a\t'${start}cmd`)
    assert.equal(cell(`a\n${start}cmd`), `"a\n'${start}cmd"`)
  }
  assert.equal(cell('\t=cmd'), `'\t'=cmd`)
})

test('ordinary text stays as it is', () => {
  const agent = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
  for (const text of ['', 'a-b', '/a=b', 'x; y', agent]) assert.equal(cell(text), text)
  assert.equal(cell('a,"b"'), '"a,""b"""')
})
