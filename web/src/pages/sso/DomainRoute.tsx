import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ssoWords } from '../../../words/en/sso.ts'
import { connectionsQuery, routeDomain, type Domain } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { SelectField } from '../../parts/Field.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'

const w = ssoWords.domains

export function DomainRoute({
  domain,
  locked,
}: {
  readonly domain: Domain
  readonly locked: boolean
}) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  const connections = useQuery(connectionsQuery(slug)).data?.items ?? []
  const routing = useMutation({
    mutationFn: async (connection: string) => {
      const before = domain.connection_id ?? ''
      await routeDomain(slug, domain.id, connection === '' ? undefined : connection)
      return before
    },
    onSuccess: (before) => say(w.routed, { undo: () => routing.mutate(before) }),
    onError: sayRefused,
    onSettled: () => void client.invalidateQueries({ queryKey: [slug, 'sso', 'domains'] }),
  })
  if (connections.length < 2) return undefined
  return (
    <div className="form">
      <SelectField
        label={w.route}
        value={domain.connection_id ?? ''}
        disabled={locked || routing.isPending}
        options={[
          { value: '', label: w.routeDefault },
          ...connections.map((one) => ({ value: one.id, label: one.name })),
        ]}
        onValue={(value) => routing.mutate(value)}
      />
    </div>
  )
}
