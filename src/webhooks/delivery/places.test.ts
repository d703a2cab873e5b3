import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DueDelivery } from '../../store/index.ts'
import { Places, type Applicant, type Place, type Standing } from './places.ts'

describe('places for requests', () => {
  test('however much one organization sends, the next one finds places', () => {
    const { fill } = placesForTests(64)
    const first = fill('org_1', 'prompt', 20)
    assert.equal(first.length, 32)
    const second = fill('org_2', 'prompt', 20)
    assert.equal(second.length, 16)
    assert.ok(fill('org_3', 'prompt', 20).length >= 8)
  })

  test('endpoints that fail leave places to new ones, and both together half to prompt ones', () => {
    const { fill } = placesForTests(64)
    let sluggish = 0
    let unproven = 0
    for (let number = 0; number < 40; number++) {
      sluggish += fill(`org_${number}`, 'sluggish', 8).length
    }
    for (let number = 0; number < 40; number++) {
      unproven += fill(`org_${number}`, 'unproven', 8).length
    }
    assert.equal(sluggish, 24)
    assert.equal(sluggish + unproven, 32)
    assert.equal(fill('org_50', 'prompt', 8).length, 16)
  })

  test('endpoints that fail get no places beyond the half that new ones have already filled', () => {
    const { fill } = placesForTests(64)
    const began = { unproven: 0, sluggish: 0 }
    for (const standing of ['unproven', 'sluggish'] as const) {
      for (let number = 0; number < 40; number++) {
        began[standing] += fill(`org_${number}`, standing, 8).length
      }
    }
    assert.deepEqual(began, { unproven: 32, sluggish: 0 })
    assert.equal(fill('org_50', 'prompt', 8).length, 16)
  })

  test('a prompt endpoint that hangs for a second no longer takes the places of prompt ones', () => {
    const world = placesForTests(64)
    assert.equal(world.fill('org_1', 'prompt', 8).length, 32)
    assert.equal(world.hasRoom('org_1', 'prompt'), false)
    world.monotonic += 1000
    assert.equal(world.hasRoom('org_1', 'prompt'), true)
    // The endpoint's own requests have shown that it is slow, whatever its health says.
    assert.equal(world.hasRoom('org_1', 'prompt', 'ep_org_1_0'), false)
  })

  test('an endpoint that was slow is prompt again after one quick response', () => {
    const world = placesForTests(64)
    const [place] = world.fill('org_1', 'prompt', 1)
    world.monotonic += 1000
    world.places.end(place!)
    const applicant = { ...prompt, endpointId: 'ep_org_1_0' }
    const slow = world.places.begin(applicant, delivery('org_1', 'ep_org_1_0'))
    assert.equal(slow.standing, 'sluggish')
    world.places.end(slow)
    assert.equal(world.places.begin(applicant, delivery('org_1', 'ep_org_1_0')).standing, 'prompt')
  })

  test('what has ended gives its place back once', () => {
    const { places } = placesForTests(4)
    const place = places.begin(prompt, delivery('org_1', 'ep_1'))
    assert.equal(places.sending, 1)
    places.end(place)
    places.end(place)
    assert.equal(places.sending, 0)
    assert.equal(places.of('ep_1').size, 1)
    places.written(place.delivery)
    assert.equal(places.of('ep_1').size, 0)
  })
})

const prompt: Applicant = { organizationId: 'org_1', endpointId: 'ep_1', standing: 'prompt' }
let deliveries = 0

function delivery(organizationId: string, endpointId: string): DueDelivery {
  deliveries += 1
  return { id: `dlv_${deliveries}`, organizationId, endpointId } as DueDelivery
}

function placesForTests(max: number) {
  const world = { monotonic: 0 }
  const places = new Places(max, () => world.monotonic)
  return Object.assign(world, {
    places,
    hasRoom: (organizationId: string, standing: Standing, endpointId = 'ep_other') =>
      places.hasRoom({ organizationId, endpointId, standing }),
    /** Starts up to eight requests for each of an organization's endpoints, and returns those that were allowed. */
    fill(organizationId: string, standing: Standing, endpoints: number): Place[] {
      const taken: Place[] = []
      for (let number = 0; number < endpoints * 8; number++) {
        const endpointId = `ep_${organizationId}_${number % endpoints}`
        const applicant = { organizationId, endpointId, standing }
        if (!places.hasRoom(applicant)) break
        taken.push(places.begin(applicant, delivery(organizationId, endpointId)))
      }
      return taken
    },
  })
}
