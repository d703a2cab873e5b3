-- Where an organization's events go. What is sealed opens only with the master key.
create table endpoint (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  url text collate "C" not null,
  description text collate "C" not null default '',
  -- JSON list of event types; null = all.
  types text collate "C",
  headers_sealed text collate "C",
  header_names text collate "C" not null default '[]',
  rate_per_second bigint,
  ordered bigint not null default 0 check (ordered in (0, 1)),
  public_key text collate "C",
  private_key_sealed text collate "C",
  created_at bigint not null,
  created_by text collate "C",
  deleted_at bigint,
  version bigint not null default 1,
  -- Health, written by whoever holds the lease.
  state text collate "C" not null default 'active' check (state in ('active', 'held', 'disabled')),
  disabled_reason text collate "C",
  failures bigint not null default 0,
  failing_since bigint,
  last_success_at bigint,
  last_attempt_at bigint,
  held_at bigint,
  probe_at bigint,
  probe_delay_ms bigint,
  -- The lease: one node at a time sends to an endpoint; the token grows with every taking.
  lease_owner text collate "C",
  lease_token bigint not null default 0,
  lease_until bigint
);
create index endpoint_organization on endpoint (organization_id, id);

-- What was ever committed for an endpoint, and what retention has removed since: the books must always balance.
create table endpoint_count (
  endpoint_id text collate "C" primary key references endpoint (id),
  organization_id text collate "C" not null,
  committed bigint not null default 0,
  removed_delivered bigint not null default 0,
  removed_dead bigint not null default 0,
  removed_skipped bigint not null default 0
);

-- One event for one endpoint. A replay sets the row back to pending: there is never a second one.
create table delivery (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_sequence bigint not null,
  event_id text collate "C" not null,
  type text collate "C" not null,
  state text collate "C" not null check (state in ('pending', 'delivered', 'dead', 'skipped')),
  due_at bigint not null,
  -- Attempts since it became pending, and in all.
  attempts bigint not null default 0,
  attempts_ever bigint not null default 0,
  version bigint not null default 1,
  created_at bigint not null,
  completed_at bigint,
  last_attempt_at bigint,
  last_status bigint,
  last_failure text collate "C",
  skipped_reason text collate "C",
  operation_id text collate "C",
  unique (organization_id, event_sequence, endpoint_id)
);
create index delivery_organization on delivery (organization_id, id);
create index delivery_due on delivery (endpoint_id, due_at, id) where state = 'pending';
create index delivery_state on delivery (endpoint_id, state, event_sequence);
create index delivery_operation on delivery (operation_id, state) where operation_id is not null;

create table attempt (
  id text collate "C" primary key,
  delivery_id text collate "C" not null,
  organization_id text collate "C" not null,
  number bigint not null,
  probe bigint not null default 0 check (probe in (0, 1)),
  started_at bigint not null,
  duration_ms bigint not null,
  status bigint,
  failure text collate "C",
  response_body bytea,
  response_truncated bigint not null default 0 check (response_truncated in (0, 1))
);
create index attempt_delivery on attempt (delivery_id, id);

create table webhook_secret (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  sealed text collate "C" not null,
  hint text collate "C" not null,
  created_at bigint not null,
  valid_until bigint
);
create index webhook_secret_organization on webhook_secret (organization_id, created_at);

-- Long work with progress: it goes on where it was after a restart.
create table operation (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  kind text collate "C" not null,
  state text collate "C" not null check (state in ('running', 'paused', 'cancelled', 'done', 'failed')),
  parameters text collate "C" not null,
  total bigint not null,
  done bigint not null default 0,
  cursor text collate "C" not null default '',
  error text collate "C",
  created_at bigint not null,
  created_by text collate "C",
  created_by_name text collate "C",
  updated_at bigint not null,
  finished_at bigint
);
create index operation_organization on operation (organization_id, id);
create index operation_running on operation (id) where state = 'running';
