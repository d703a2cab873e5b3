import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Problem } from '../../errors.ts'
import { checkUrl, createAddressGuard, createConnector, OutboundError } from './index.ts'

// A guard without exceptions by the operator.
const closed = createAddressGuard()

/** URLs that are refused: forbidden addresses in many notations, and texts of a wrong form. */
const blockedUrls = [
  // Loopback as people write it, and as attackers do.
  'http://127.0.0.1/',
  'http://127.0.0.1:8080/hook',
  'http://127.1/',
  'http://127.0.1/',
  'http://127.255.255.254/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.1/',
  'http://0X7F.0.0.1/',
  'http://0177.0.0.1/',
  'http://017700000001/',
  'http://0177.0.0x1/',
  'http://①②⑦.⓪.⓪.①/',
  'http://127。0。0。1/',
  'http://127．0．0．1/',
  'http://127.0.0.1./',
  'http://%31%32%37.0.0.1/',
  'http://localhost/',
  'http://LOCALHOST/',
  'http://localhost./',
  'http://a.localhost/',
  'http://ⓛocalhost/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[0000:0000:0000:0000:0000:0000:0000:0001]/',
  // The unspecified address, which on Linux reaches the machine itself, and another address of its range.
  'http://0.0.0.0/',
  'http://0/',
  'http://0x0/',
  'http://0.1.2.3/',
  'http://[::]/',
  // Private, shared, documentation, multicast and reserved addresses.
  'http://10.0.0.1/',
  'http://10.255.255.255/',
  'http://167772161/',
  'http://0xa000001/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.0.1/',
  'http://192.168.1/',
  'http://3232235521/',
  'http://0300.0250.0.1/',
  'http://100.64.0.1/',
  'http://100.127.255.255/',
  'http://198.18.0.1/',
  'http://198.19.255.255/',
  'http://192.0.0.8/',
  'http://192.0.2.1/',
  'http://198.51.100.7/',
  'http://203.0.113.9/',
  'http://192.88.99.1/',
  'http://224.0.0.1/',
  'http://239.255.255.250/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://4294967295/',
  'http://169.254.1.1/',
  // Metadata services.
  'http://169.254.169.254/latest/meta-data/',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'http://0xA9.0xFE.0xA9.0xFE/',
  'http://0251.0376.0251.0376/',
  'http://169.254.43518/',
  'http://169.16689662/',
  'http://169.254.170.2/',
  'http://169.254.170.23/',
  'http://100.100.100.200/',
  'http://168.63.129.16/',
  'http://192.0.0.192/',
  'http://metadata.google.internal/',
  'http://metadata.google.internal./',
  'http://metadata/',
  'http://[fd00:ec2::254]/',
  'http://[fd20:ce::254]/',
  'http://[fe80::a9fe:a9fe]/',
  // IPv6 addresses that embed an IPv4 one (mapped, translated, compatible, NAT64, 6to4, Teredo), and an ORCHID.
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[0:0:0:0:0:ffff:127.0.0.1]/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[::FFFF:10.0.0.1]/',
  'http://[::ffff:c0a8:101]/',
  'http://[::ffff:0.0.0.0]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[::127.0.0.1]/',
  'http://[::7f00:1]/',
  'http://[::a9fe:a9fe]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b::169.254.169.254]/',
  'http://[64:ff9b::a00:1]/',
  'http://[64:ff9b::]/',
  'http://[::ffff:8.8.8.8]/',
  'http://[::ffff:0:8.8.8.8]/',
  'http://[64:ff9b::8.8.8.8]/',
  'http://[64:ff9b:1::7f00:1]/',
  'http://[64:ff9b:1::1]/',
  'http://[2002:7f00:1::]/',
  'http://[2002:a9fe:a9fe::]/',
  'http://[2002:0a00:0001::1]/',
  'http://[2002:c0a8:0101::]/',
  'http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/',
  'http://[2001::1]/',
  'http://[2001:10::1]/',
  // Native IPv6.
  'http://[fc00::1]/',
  'http://[fd12:3456:789a::1]/',
  'http://[fe80::1]/',
  'http://[febf::1]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
  'http://[ff0e::1]/',
  'http://[100::1]/',
  'http://[2001:db8::1]/',
  'http://[3fff::1]/',
  'http://[5f00::1]/',
  'http://[4000::1]/',
  'http://[::2]/',
  'http://[0100:0:0:1::1]/',
  // A wrong scheme, form or port.
  'file:///etc/passwd',
  'ftp://example.com/',
  'gopher://example.com/',
  'data:application/json,{}',
  'javascript:alert(1)',
  'ws://example.com/',
  'unix:///var/run/docker.sock',
  'blob:http://example.com/1',
  '//example.com/',
  'http:example.com',
  'http:/example.com',
  'http:///example.com',
  'https:\\\\example.com\\',
  'http://example.com\\@127.0.0.1/',
  'http://user@example.com/',
  'http://user:pass@example.com/',
  'http://:@example.com/',
  'http://example.com@127.0.0.1/',
  'http://example.com/#fragment',
  'http://example.com/#',
  'http://exa\tmple.com/',
  'http://example.com/\r\nHost: x',
  ' http://example.com/',
  'http://example.com/ x',
  'http://example.com:22/',
  'http://example.com:25/',
  'http://example.com:6379/',
  'http://example.com:0/',
  'http://example.com:99999/',
  'http://[fe80::1%25eth0]/',
  'http://[::1',
  'http://1.2.3.4.5/',
  'http://256.256.256.256/',
  'http://exa$mple.com/',
  'http://a..b/',
  'http://-a.com/',
  'http://exam_ple-.com/',
  'http://*.example.com/',
  `http://${'a'.repeat(64)}.com/`,
  `http://example.com/${'x'.repeat(2048)}`,
  'http://',
  'https://',
  '',
] as const

/** URLs with public names and addresses, none of which may be refused. */
const openUrls = [
  'http://example.com/',
  'https://example.com',
  'https://EXAMPLE.com:8443/hook?x=1&y=%20',
  'https://example.com./hook',
  'https://xn--bcher-kva.example/',
  'https://bücher.example/',
  'https://my_service.example/',
  'http://8.8.8.8/',
  'http://1.1.1.1:8080/',
  'http://9.255.255.255/',
  'http://11.0.0.1/',
  'http://100.63.255.255/',
  'http://100.128.0.1/',
  'http://126.255.255.255/',
  'http://128.0.0.1/',
  'http://169.253.255.255/',
  'http://169.255.0.1/',
  'http://172.15.255.255/',
  'http://172.32.0.1/',
  'http://192.0.1.1/',
  'http://192.167.255.255/',
  'http://192.169.0.1/',
  'http://198.17.255.255/',
  'http://198.20.0.1/',
  'http://223.255.255.255/',
  'http://134744072/',
  'http://[2606:4700:4700::1111]/',
  'http://[2001:4860:4860::8888]/',
  'http://[2001:200::1]/',
  'http://[2003::1]/',
  'http://[2a00:1450:4001::1]/',
  'http://[3fff:1000::1]/',
] as const

/** Results of look-ups that must be refused without connecting to any of their addresses. */
const blockedAnswers = [
  ['127.0.0.1'],
  ['::1'],
  ['10.0.0.1'],
  ['::ffff:10.0.0.1'],
  ['::ffff:a00:1'],
  ['fe80::1%eth0'],
  ['fe80::1%1'],
  ['::1%lo'],
  ['169.254.169.254'],
  ['64:ff9b::a9fe:a9fe'],
  ['2002:a9fe:a9fe::1'],
  ['8.8.8.8', '127.0.0.1'],
  ['127.0.0.1', '8.8.8.8'],
  ['2606:4700::1', 'fd00::1'],
  ['8.8.8.8', '8.8.4.4', '0.0.0.0'],
  ['not an address'],
  ['8.8.8.8; rm -rf'],
  [''],
  ['0x7f.1'],
  ['2130706433'],
] as const

describe('the address guard', () => {
  test(`all of ${blockedUrls.length} forbidden URLs are refused when saved`, () => {
    for (const text of blockedUrls) {
      assert.throws(
        () => checkUrl(text, closed),
        (error) => error instanceof Problem && error.code === 'outbound_blocked',
        text,
      )
    }
  })

  test(`none of ${openUrls.length} public URLs is refused`, () => {
    for (const text of openUrls) assert.doesNotThrow(() => checkUrl(text, closed), text)
  })

  test('every resolved address is checked right before it is connected to', async () => {
    for (const answer of blockedAnswers) {
      const tried: string[] = []
      const connector = createConnector({
        guard: closed,
        resolve: async () => [...answer],
        connect: (address) => {
          tried.push(address)
          throw new OutboundError('connect', 'no network in this test')
        },
        timeoutMs: 1000,
      })
      await assert.rejects(
        connector({ host: 'receiver.example', port: 443, secure: true }),
        (error) => error instanceof OutboundError && error.kind === 'blocked',
        answer.join(),
      )
      assert.deepEqual(tried, [], answer.join())
    }
  })

  test('of a name with thousands of addresses only the first few are tried', async () => {
    const tried: string[] = []
    const connector = createConnector({
      guard: closed,
      resolve: async () => Array.from({ length: 4000 }, (_, at) => `93.184.${at >> 8}.${at & 255}`),
      connect: (address) => {
        tried.push(address)
        throw new OutboundError('connect', 'no network in this test')
      },
      timeoutMs: 1000,
    })
    await assert.rejects(connector({ host: 'receiver.example', port: 443, secure: true }))
    assert.equal(tried.length, 16)
  })

  test('what DNS64 answers for a public address is connected to', async () => {
    const tried: string[] = []
    const connector = createConnector({
      guard: closed,
      resolve: async () => ['64:ff9b::808:808'],
      connect: (address) => {
        tried.push(address)
        throw new OutboundError('connect', 'no network in this test')
      },
      timeoutMs: 1000,
    })
    await assert.rejects(connector({ host: 'receiver.example', port: 443, secure: true }))
    assert.deepEqual(tried, ['64:ff9b::808:808'])
  })

  test('a name that was public when saved and is private when called is refused (DNS rebinding)', async () => {
    const answers = [['93.184.216.34'], ['127.0.0.1'], ['93.184.216.34']]
    const tried: string[] = []
    const connector = createConnector({
      guard: closed,
      resolve: async () => answers.shift() ?? [],
      connect: (address) => {
        tried.push(address)
        throw new OutboundError('connect', 'no network in this test')
      },
      timeoutMs: 1000,
    })
    const kinds: string[] = []
    for (let call = 0; call < 3; call++) {
      await connector({ host: 'rebind.example', port: 80, secure: false }).catch(
        (error: OutboundError) => kinds.push(error.kind),
      )
    }
    assert.deepEqual(kinds, ['connect', 'blocked', 'connect'])
    // Each call connects to the address that it has checked, and does not resolve the name a second time.
    assert.deepEqual(tried, ['93.184.216.34', '93.184.216.34'])
  })

  test('OUTBOUND_ALLOW_CIDRS opens what it names and nothing else', () => {
    const guard = createAddressGuard({ allowCidrs: ['10.1.0.0/16', 'fd12::/16', '100.64.0.0/10'] })
    for (const open of ['10.1.2.3', '::ffff:10.1.2.3', 'fd12::5', '100.64.1.1', '8.8.8.8']) {
      assert.equal(guard.checkAddress(open), undefined, open)
    }
    for (const shut of ['10.2.0.1', '127.0.0.1', 'fd13::1', '100.100.100.200', '192.168.0.1']) {
      assert.notEqual(guard.checkAddress(shut), undefined, shut)
    }
  })

  test('no CIDR opens metadata, multicast or the unspecified address', () => {
    const guard = createAddressGuard({
      allowCidrs: ['0.0.0.0/0', '::/0', '169.254.169.254/32', 'fd00:ec2::254'],
      allowLoopback: true,
    })
    const never = ['169.254.169.254', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254']
    never.push('169.254.42.42', 'fd00:42::42', 'fd00:c1::a9fe:a9fe')
    for (const shut of [...never, '0.0.0.0', '224.0.0.1', '255.255.255.255', '::', 'ff02::1']) {
      assert.notEqual(guard.checkAddress(shut), undefined, shut)
    }
    assert.equal(guard.checkAddress('169.254.1.1'), undefined)
    assert.equal(guard.checkAddress('127.0.0.1'), undefined)
  })

  test('loopback opens by its option or by a CIDR inside it, not by 0.0.0.0/0', () => {
    const wide = createAddressGuard({ allowCidrs: ['0.0.0.0/0', '::/0'] })
    assert.equal(wide.checkAddress('127.0.0.1'), 'loopback')
    assert.equal(wide.checkAddress('::1'), 'loopback')
    const exact = createAddressGuard({ allowCidrs: ['127.0.0.1/32', '::1'] })
    assert.equal(exact.checkAddress('127.0.0.1'), undefined)
    assert.equal(exact.checkAddress('127.0.0.2'), 'loopback')
    assert.equal(exact.checkAddress('::1'), undefined)
    assert.doesNotThrow(() =>
      checkUrl('http://localhost:3000/', createAddressGuard({ allowLoopback: true })),
    )
  })

  test('a CIDR that is none is refused by its text', () => {
    for (const text of ['10.0.0.0/33', '10/8', 'x', '::/129', '10.0.0.0/8/8', '10.0.0.0/-1', '']) {
      assert.throws(() => createAddressGuard({ allowCidrs: [text] }), Problem, text)
    }
  })
})
