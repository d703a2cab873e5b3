-- Where an organization's events go. What is sealed opens only with the master key.
create table endpoint (
  id text primary key,
  organization_id text not null references organization (id),
  url text not null,
  description text not null default '',
  -- JSON list of event types; null = all.
  types text,
  headers_sealed text,
  header_names text not null default '[]',
  rate_per_second integer,
  ordered integer not null default 0 check (ordered in (0, 1)),
  public_key text,
  private_key_sealed text,
  created_at integer not null,
  created_by text,
  deleted_at integer,
  version integer not null default 1,
  -- Health, written by whoever holds the lease.
  state text not null default 'active' check (state in ('active', 'held', 'disabled')),
  disabled_reason text,
  failures integer not null default 0,
  failing_since integer,
  last_success_at integer,
  last_attempt_at integer,
  held_at integer,
  probe_at integer,
  probe_delay_ms integer,
  -- The lease: one node at a time sends to an endpoint; the token grows with every taking.
  lease_owner text,
  lease_token integer not null default 0,
  lease_until integer
) strict;
create index endpoint_organization on endpoint (organization_id, id);

-- What was ever committed for an endpoint, and what retention has removed since: the books must always balance.
create table endpoint_count (
  endpoint_id text primary key references endpoint (id),
  organization_id text not null,
  committed integer not null default 0,
  removed_delivered integer not null default 0,
  removed_dead integer not null default 0,
  removed_skipped integer not null default 0
) strict;

-- One event for one endpoint. A replay sets the row back to pending: there is never a second one.
create table delivery (
  id text primary key,
  organization_id text not null,
  endpoint_id text not null,
  event_sequence integer not null,
  event_id text not null,
  type text not null,
  state text not null check (state in ('pending', 'delivered', 'dead', 'skipped')),
  due_at integer not null,
  -- Attempts since it became pending, and in all.
  attempts integer not null default 0,
  attempts_ever integer not null default 0,
  version integer not null default 1,
  created_at integer not null,
  completed_at integer,
  last_attempt_at integer,
  last_status integer,
  last_failure text,
  skipped_reason text,
  operation_id text,
  unique (organization_id, event_sequence, endpoint_id)
) strict;
create index delivery_organization on delivery (organization_id, id);
create index delivery_due on delivery (endpoint_id, due_at, id) where state = 'pending';
create index delivery_state on delivery (endpoint_id, state, event_sequence);
create index delivery_operation on delivery (operation_id, state) where operation_id is not null;

create table attempt (
  id text primary key,
  delivery_id text not null,
  organization_id text not null,
  number integer not null,
  probe integer not null default 0 check (probe in (0, 1)),
  started_at integer not null,
  duration_ms integer not null,
  status integer,
  failure text,
  response_body blob,
  response_truncated integer not null default 0 check (response_truncated in (0, 1))
) strict;
create index attempt_delivery on attempt (delivery_id, id);

create table webhook_secret (
  id text primary key,
  organization_id text not null references organization (id),
  sealed text not null,
  hint text not null,
  created_at integer not null,
  valid_until integer
) strict;
create index webhook_secret_organization on webhook_secret (organization_id, created_at);

-- Long work with progress: it goes on where it was after a restart.
create table operation (
  id text primary key,
  organization_id text not null,
  kind text not null,
  state text not null check (state in ('running', 'paused', 'cancelled', 'done', 'failed')),
  parameters text not null,
  total integer not null,
  done integer not null default 0,
  cursor text not null default '',
  error text,
  created_at integer not null,
  created_by text,
  created_by_name text,
  updated_at integer not null,
  finished_at integer
) strict;
create index operation_organization on operation (organization_id, id);
create index operation_running on operation (id) where state = 'running';
