-- A token ends with the one that issued it, at the latest; until now it could outlive it.
with recursive succession (id, ends, is_revoked) as (
  select id, expires_at, revoked_at is not null
  from access_token
  where created_by is null or created_by not in (select id from access_token)
  union all
  select token.id, least(token.expires_at, succession.ends),
    token.revoked_at is not null or succession.is_revoked
  from access_token token join succession on token.created_by = succession.id
)
update access_token set
  expires_at = succession.ends,
  revoked_at = case when succession.is_revoked
    then coalesce(access_token.revoked_at, (extract(epoch from now()) * 1000)::bigint) end
from succession
where succession.id = access_token.id;
create index access_token_issuer on access_token (organization_id, created_by);

-- Tokens of people who were removed; they would have come back to life if the person had rejoined.
update access_token set revoked_at = (extract(epoch from now()) * 1000)::bigint
where revoked_at is null and organization_id is not null and creator_user_id is not null
  and not exists (
    select 1 from membership
    where membership.organization_id = access_token.organization_id
      and membership.user_id = access_token.creator_user_id
  );
