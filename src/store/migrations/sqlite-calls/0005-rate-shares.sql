-- Which part of a rate each process may spend, in millionths; the row without a node says when what nobody holds is whole.
create table rate_share (
  subject_id text not null,
  node_id text not null,
  organization_id text not null,
  share integer not null,
  whole_at integer not null,
  demand real not null,
  short integer not null check (short in (0, 1)),
  changed_at integer not null,
  primary key (subject_id, node_id)
) strict, without rowid;
create index rate_share_changed on rate_share (changed_at);

-- Processes that share rates; the shares of one whose time is over are everybody's again.
create table rate_node (
  node_id text not null primary key,
  until integer not null
) strict, without rowid;
