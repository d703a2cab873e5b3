-- Calls counted per quarter of an hour for an organization (subject ''), each key and each target, by how they ended, so that
-- charts read no records; l0 to l31 count them by how long they took (latency-buckets.ts). '' is a call without a refusal.
create table call_quarter (
  organization_id text not null,
  subject text not null,
  quarter integer not null,
  stopped_at text not null,
  refusal text not null,
  status integer not null,
  calls integer not null,
  l0 integer not null default 0, l1 integer not null default 0, l2 integer not null default 0, l3 integer not null default 0, l4 integer not null default 0, l5 integer not null default 0, l6 integer not null default 0, l7 integer not null default 0,
  l8 integer not null default 0, l9 integer not null default 0, l10 integer not null default 0, l11 integer not null default 0, l12 integer not null default 0, l13 integer not null default 0, l14 integer not null default 0, l15 integer not null default 0,
  l16 integer not null default 0, l17 integer not null default 0, l18 integer not null default 0, l19 integer not null default 0, l20 integer not null default 0, l21 integer not null default 0, l22 integer not null default 0, l23 integer not null default 0,
  l24 integer not null default 0, l25 integer not null default 0, l26 integer not null default 0, l27 integer not null default 0, l28 integer not null default 0, l29 integer not null default 0, l30 integer not null default 0, l31 integer not null default 0,
  primary key (organization_id, subject, quarter, stopped_at, refusal, status)
) strict, without rowid;

-- The same per day (UTC), the day first: for the keys and targets with the most calls.
create table call_day (
  organization_id text not null,
  day integer not null,
  subject text not null,
  stopped_at text not null,
  refusal text not null,
  status integer not null,
  calls integer not null,
  primary key (organization_id, day, subject, stopped_at, refusal, status)
) strict, without rowid;

-- Since when these counts are whole. Calls of before are in records and counts per minute alone; nodes of the version before
-- may go on for a while, and know nothing of them.
create table call_counted (since integer not null) strict;
insert into call_counted (since)
  select case when exists (select 1 from call) or exists (select 1 from call_minute)
    then (unixepoch() / 3600 + 2) * 3600000 else 0 end;
