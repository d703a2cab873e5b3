import type { Section, SectionKey } from './section.ts'
import { connectionSection } from './connections.ts'
import { domainSection } from './domains.ts'
import { endpointSection } from './endpoints.ts'
import { groupSection } from './groups.ts'
import { keySection } from './keys.ts'
import { organizationSection } from './organization.ts'
import { targetSection } from './targets.ts'

export { KeyDefaultsSchema } from './organization.ts'

/** Every kind of thing that a file can contain. */
export const sections: Readonly<Record<SectionKey, Section>> = {
  organization: organizationSection,
  targets: targetSection,
  endpoints: endpointSection,
  connections: connectionSection,
  domains: domainSection,
  groups: groupSection,
  keys: keySection,
}
