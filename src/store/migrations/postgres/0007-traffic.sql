-- Call records by organization and time-ordered id, which is the order of every list. One partition a day, by the time that
-- ids begin with; what belongs to a day without a partition is in the partition for all others.
create table call (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  at bigint not null,
  key_id text collate "C" not null,
  target_id text collate "C",
  method text collate "C" not null,
  path text collate "C" not null,
  status bigint not null,
  refusal text collate "C",
  stopped_at text collate "C",
  rule_id text collate "C",
  trial_rule_id text collate "C",
  bytes_in bigint not null,
  bytes_out bigint not null,
  duration_us bigint not null,
  upstream_us bigint,
  address text collate "C" not null,
  agent text collate "C",
  capture text collate "C",
  primary key (organization_id, id)
) partition by range (id);
create index call_key on call (organization_id, key_id, id);
-- What people look for and few calls are: those of one address, and those that an upstream failed.
create index call_address on call (organization_id, address, id);
create index call_failed on call (organization_id, id) where status >= 500;
create table call_other partition of call default;

-- Calls counted towards a quota of a key or target; the period is its first moment.
create table quota_use (
  organization_id text collate "C" not null,
  subject_id text collate "C" not null,
  period_at bigint not null,
  calls bigint not null,
  -- What nodes claimed before they let calls pass: never more than the quota, over all nodes.
  claimed bigint not null default 0,
  granted bigint not null default 0,
  primary key (organization_id, subject_id, period_at)
);

-- How often a rule decided, and how often a rule on trial would have refused; per day.
create table rule_day (
  organization_id text collate "C" not null,
  rule_id text collate "C" not null,
  day_at bigint not null,
  decided bigint not null,
  would_refuse bigint not null,
  primary key (organization_id, rule_id, day_at)
);

-- Counts per minute, for charts; stopped_at '' is an answered call.
create table call_minute (
  organization_id text collate "C" not null,
  minute bigint not null,
  target_id text collate "C" not null,
  stopped_at text collate "C" not null,
  calls bigint not null,
  errors bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  duration_us bigint not null,
  primary key (organization_id, minute, target_id, stopped_at)
);
create index call_minute_minute on call_minute (minute);

-- Which part of a rate each node may spend, in millionths; the row without a node says when what nobody holds is whole.
create table rate_share (
  subject_id text collate "C" not null,
  node_id text collate "C" not null,
  organization_id text collate "C" not null,
  share bigint not null,
  whole_at bigint not null,
  demand double precision not null,
  short bigint not null check (short in (0, 1)),
  changed_at bigint not null,
  primary key (subject_id, node_id)
);
create index rate_share_changed on rate_share (changed_at);

-- Nodes that share rates; the shares of one whose time is over are everybody's again.
create table rate_node (
  node_id text collate "C" not null primary key,
  until bigint not null
);
