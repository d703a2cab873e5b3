-- Where the pages of an index walk ended, so that its next page begins there whoever was deleted meanwhile. Here, so that
-- reading a page waits for no disk: after a loss of power a walk goes on by its numbers.
create table directory_walk (
  token_id text not null,
  query_digest text not null,
  next_index integer not null,
  next_place text not null,
  previous_index integer,
  previous_place text,
  at integer not null,
  primary key (token_id, query_digest)
) strict, without rowid;
