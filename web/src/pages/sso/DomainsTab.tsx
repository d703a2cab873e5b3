import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { ssoWords } from '../../../words/en/sso.ts'
import { addDomain, domainsQuery, type Domain } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { TextField } from '../../parts/Field.tsx'
import { LeaveGuard } from '../../parts/LeaveGuard.tsx'
import { ProblemNotice, QueryState, fieldError } from '../../parts/States.tsx'
import { Card, Pile } from '../../parts/Surface.tsx'
import { DomainCard } from './DomainCard.tsx'

const w = ssoWords.domains

export function DomainsTab() {
  const { slug } = useOrganization()
  const domains = useQuery(domainsQuery(slug))
  return (
    <Pile>
      {domains.data !== undefined ? (
        domains.data.items.map((domain: Domain) => <DomainCard key={domain.id} domain={domain} />)
      ) : (
        <QueryState query={domains} />
      )}
      <AddDomain first={domains.data?.items.length === 0} />
    </Pile>
  )
}

function AddDomain({ first }: { readonly first: boolean }) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const adding = useMutation({
    mutationFn: () => addDomain(slug, name.trim()),
    onSuccess: () => {
      setName('')
      void client.invalidateQueries({ queryKey: [slug, 'sso', 'domains'] })
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    if (name.trim() !== '') adding.mutate()
  }
  return (
    <Card title={first ? w.emptyTitle : w.add} lead={first ? w.emptyText : w.lead}>
      <form className="form" onSubmit={submit}>
        <LeaveGuard isDirty={() => name.trim() !== ''} />
        <TextField
          label={w.name}
          hint={w.nameHint}
          error={fieldError(adding.error, 'name')}
          code
          placeholder="acme.com"
          value={name}
          onValue={setName}
        />
        {adding.error === null ? undefined : <ProblemNotice error={adding.error} />}
        <div>
          <Button
            type="submit"
            look={first ? 'primary' : 'plain'}
            busy={adding.isPending}
            disabled={name.trim() === ''}
          >
            {w.add}
          </Button>
        </div>
      </form>
    </Card>
  )
}
