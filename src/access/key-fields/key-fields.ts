import { Problem } from '../../errors.ts'
import { targetSlugPattern } from '../../ids.ts'
import { isMethod, methods } from '../../methods.ts'
import type { Grant, Quota } from '../../store/index.ts'
import { isCount, isRate, maxRateSeconds } from '../../rate.ts'
import { parseCallsPerSeconds } from '../../units.ts'
import { parseCidr } from './cidr.ts'
import { field } from './key-field.ts'
import {
  checkLabels,
  inOrder,
  labelNamePattern,
  labelsText,
  labelValuePattern,
  maxLabels,
  maxLabelValue,
  parseLabels,
} from './key-labels.ts'
import { grantText, parseGrant, parseQuota } from './key-texts.ts'

const maxGrants = 100
// The target of a grant may contain only the characters of a slug. People paste commands with grants from a key's page
// into a shell, where other characters could run something else.
const targetSlug = new RegExp(targetSlugPattern, 'u')
const maxCidrs = 100
const maxRateCalls = 1_000_000_000
const maxQuotaCalls = 1_000_000_000_000

/**
 * The fields of a key that people set, except its name and expiry, by their names in the API. The API, the command line
 * and configuration files all use these descriptions.
 */
export const keyFields = {
  grants: field({
    column: 'grants',
    schema: {
      type: 'array',
      minItems: 1,
      maxItems: maxGrants,
      items: {
        title: 'Grant',
        type: 'object',
        additionalProperties: false,
        required: ['target'],
        properties: {
          target: { type: 'string', pattern: targetSlugPattern },
          /** Missing means every method. */
          methods: {
            type: 'array',
            minItems: 1,
            maxItems: 10,
            items: { type: 'string', enum: methods },
          },
        },
      },
    },
    toJson: (grants) => grants.map(grantJson),
    fromJson: (grants) => grants,
    check(grants) {
      if (grants.length > maxGrants) throw tooMany()
      if (grants.length === 0) throw allowsNone()
      for (const grant of grants) checkGrant(grant)
    },
    shown: {
      label: 'May call',
      none: 'every target',
      text: (grants) => grants.map(grantText).join(', '),
    },
    flag: {
      name: 'grant',
      value: 'TARGET[:METHOD,…]',
      sample: 'TARGET[:METHOD,…]',
      examples: ['payments:GET,POST', 'search'],
      about: 'what it may call; may be given more than once. Without it: every target',
      aboutEdit: 'what it may call, instead of before; may be given more than once',
      takes: 'many',
      clear: { flag: 'all-targets', about: 'let it call every target' },
      parse: (texts) => texts.map(parseGrant),
    },
  }),

  cidrs: field({
    column: 'cidrs',
    schema: {
      type: 'array',
      minItems: 1,
      maxItems: maxCidrs,
      items: { type: 'string', maxLength: 50 },
    },
    toJson: (cidrs) => [...cidrs],
    fromJson: (cidrs) => cidrs,
    check(cidrs) {
      if (cidrs.length > maxCidrs) throw tooMany()
      if (cidrs.length === 0) throw allowsNone()
      for (const cidr of cidrs) parseCidr(cidr)
    },
    shown: { label: 'From', none: 'any address', text: (cidrs) => cidrs.join(', ') },
    flag: {
      name: 'cidr',
      value: 'RANGE',
      sample: 'RANGE',
      examples: ['10.0.0.0/8', '2001:db8::/32'],
      about: 'addresses it may come from; may be given more than once',
      aboutEdit: 'addresses it may come from, instead of before; may be given more than once',
      takes: 'many',
      clear: { flag: 'any-address', about: 'let it come from any address' },
      parse: (texts) => texts,
    },
  }),

  rate_limit: field({
    column: 'rateLimit',
    schema: {
      title: 'RateLimit',
      type: 'object',
      additionalProperties: false,
      required: ['calls', 'per_seconds'],
      properties: {
        calls: { type: 'integer', minimum: 1, maximum: maxRateCalls },
        per_seconds: { type: 'integer', minimum: 1, maximum: maxRateSeconds },
        burst: { type: 'integer', minimum: 1, maximum: maxRateCalls },
      },
    },
    toJson: ({ calls, perSeconds, burst }) => ({
      calls,
      per_seconds: perSeconds,
      ...(burst === undefined ? {} : { burst }),
    }),
    fromJson: ({ calls, per_seconds: perSeconds, burst }) => ({ calls, perSeconds, burst }),
    check(rate) {
      if (isRate(rate, maxRateCalls)) return
      throw new Problem(
        'invalid_input',
        `A key's rate has 1 to ${maxRateCalls} calls in 1 to ${maxRateSeconds} seconds, and perhaps a burst.`,
      )
    },
    shown: {
      label: 'Rate',
      none: 'not limited',
      text: ({ calls, perSeconds }) => `${calls} calls in ${perSeconds} s`,
    },
    flag: {
      name: 'rate',
      value: 'RATE',
      sample: '100/s',
      examples: ['100/s'],
      about: 'how many calls in which time, such as 100/s',
      aboutEdit: 'how many calls in which time, such as 100/s, or none',
      takes: 'one',
      parse: parseCallsPerSeconds,
    },
  }),

  quota: field({
    column: 'quota',
    schema: {
      title: 'Quota',
      type: 'object',
      additionalProperties: false,
      required: ['calls', 'period'],
      properties: {
        calls: { type: 'integer', minimum: 1, maximum: maxQuotaCalls },
        period: { type: 'string', enum: ['day', 'month'] },
      },
    },
    toJson: ({ calls, period }): Quota => ({ calls, period }),
    fromJson: (quota) => quota,
    check({ calls }) {
      if (isCount(calls, maxQuotaCalls)) return
      throw new Problem('invalid_input', `A key's quota has 1 to ${maxQuotaCalls} calls.`)
    },
    shown: {
      label: 'Quota',
      none: 'none',
      text: ({ calls, period }) => `${calls} calls a ${period}`,
    },
    flag: {
      name: 'quota',
      value: 'QUOTA',
      sample: '10000/day',
      examples: ['10000/day'],
      about: 'how many calls a day or a month, such as 10000/day or 1000000/month',
      aboutEdit: 'how many calls a day or a month, such as 10000/day, or none',
      takes: 'one',
      parse: parseQuota,
    },
  }),

  labels: field({
    column: 'labels',
    schema: {
      title: 'Labels',
      type: 'object',
      maxProperties: maxLabels,
      propertyNames: {
        pattern: labelNamePattern,
        description: 'a lower-case letter, then up to 62 of a–z, 0–9, ".", "_" and "-"',
      },
      additionalProperties: {
        type: 'string',
        maxLength: maxLabelValue,
        pattern: labelValuePattern,
      },
      description: 'Words to sort keys by; null = none.',
    },
    toJson: (labels): Record<string, string> => ({ ...inOrder(labels) }),
    fromJson: (labels) => inOrder(labels),
    check: checkLabels,
    shown: { label: 'Labels', none: 'none', text: (labels) => labelsText(inOrder(labels) ?? {}) },
    flag: {
      name: 'label',
      value: 'NAME=VALUE',
      sample: 'NAME=VALUE',
      examples: ['team=payments', 'env=prod', 'constructor=x', 'cost_center=a, b=c'],
      about: 'a word to find it by, such as team=payments; may be given more than once',
      aboutEdit: 'its labels, instead of before; may be given more than once',
      takes: 'many',
      clear: { flag: 'no-labels', about: 'take all of its labels away' },
      parse: parseLabels,
    },
  }),
}

function grantJson({ target, methods: granted }: Grant) {
  if (granted === undefined) return { target }
  return { target, methods: methods.filter((method) => granted.includes(method)) }
}

function checkGrant(grant: Grant): void {
  if (!targetSlug.test(grant.target)) {
    throw new Problem(
      'invalid_input',
      `${JSON.stringify(grant.target.slice(0, 63))} is no name of a target: it has 1 to 63 of a–z, 0–9 and "-".`,
    )
  }
  const wrong = grant.methods?.find((method) => !isMethod(method))
  if (wrong === undefined) return
  throw new Problem(
    'invalid_input',
    `"${wrong.slice(0, 20)}" is no method that can be granted; there are ${methods.join(', ')}.`,
  )
}

function tooMany(): Problem {
  return new Problem(
    'invalid_input',
    `A key has at most ${maxGrants} grants and ${maxCidrs} CIDRs.`,
  )
}

function allowsNone(): Problem {
  return new Problem(
    'invalid_input',
    'Leave grants or CIDRs out to allow all; an empty list allows none.',
  )
}
