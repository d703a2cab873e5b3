// Made by packages/generate.ts from the table of routes; do not edit.

/** Why something was refused. */
export type ProblemCode = "bad_request" | "not_found" | "method_not_allowed" | "uri_too_long" | "head_too_large" | "body_too_large" | "unsupported_media_type" | "request_timeout" | "expectation_failed" | "framing_invalid" | "version_not_supported" | "transfer_encoding_unsupported" | "host_invalid" | "person_required" | "credential_missing" | "credential_invalid" | "credential_wrong_header" | "credential_ambiguous" | "credential_revoked" | "credential_expired" | "credential_unverifiable" | "address_not_allowed" | "browser_origin_refused" | "target_not_found" | "target_disabled" | "rule_denied" | "path_ambiguous" | "rate_limited" | "quota_exhausted" | "upstream_unreachable" | "upstream_invalid" | "upstream_timeout" | "outbound_blocked" | "idp_unreachable" | "idp_timeout" | "idp_answer_invalid" | "idp_discovery_invalid" | "idp_keys_invalid" | "idp_token_refused" | "idp_token_invalid" | "idp_userinfo_invalid" | "idp_refused" | "id_token_invalid" | "id_token_signature_invalid" | "callback_invalid" | "callback_issuer_mismatch" | "logout_token_invalid" | "sso_not_available" | "sso_connection_disabled" | "sso_email_missing" | "sso_email_unverified" | "sso_domain_mismatch" | "sso_group_missing" | "sso_not_admitted" | "sso_membership_ended" | "sso_confirmation_required" | "sso_required" | "own_sign_in_required" | "break_glass_missing" | "domain_invalid" | "domain_public" | "domain_taken" | "session_missing" | "session_invalid" | "session_ended" | "cross_origin_refused" | "permission_required" | "sign_in_too_old" | "provider_not_configured" | "sign_in_refused" | "email_not_verified" | "account_exists" | "identity_taken" | "link_invalid" | "invitation_invalid" | "invitation_for_other" | "last_connection" | "last_owner" | "idempotency_conflict" | "invalid_input" | "conflict" | "managed_by_file" | "version_conflict" | "plan_required" | "storage_unavailable" | "internal_error"

export type AccessToken = { "id": string; "name": string; "hint": string; "state": "active" | "expiring" | "expired" | "revoked"; "permissions": ("traffic.see" | "keys.issue" | "keys.manage" | "deliveries.replay" | "targets.manage" | "webhooks.manage" | "members.manage" | "audit.see" | "organization.manage" | "tokens.manage" | "sso.manage" | "owners.manage" | "organization.delete")[]; "cidrs": (string)[] | null; "created_by": string | null; "created_at": string; "expires_at": string | null; "last_used_at": string | null; "last_used_address": string | null; "last_used_agent": string | null; "revoked_at": string | null }

export type ApiKey = { "id": string; "name": string; "hint": string; "scheme": "x-api-key" | "bearer"; "state": "active" | "suspended" | "expired" | "revoked"; "grants": (Grant)[] | null; "cidrs": (string)[] | null; "rate_limit": RateLimit | null; "quota": Quota | null; "created_at": string; "created_by": string | null; "personal_user_id": string | null; "expires_at": string | null; "revoked_at": string | null; "revoked_by": string | null; "last_used_at": string | null; "last_used_address": string | null; "last_used_agent": string | null; "last_used_target_id": string | null; "secrets": (KeySecret)[]; "version": number }

export type Attempt = { "id": string; "number": number; "probe": boolean; "started_at": string; "duration_ms": number; "status": number | null; "failure": string | null; "answer": string | null; "answer_truncated": boolean }

export type Attention = { "kind": string; "title": string; "text": string; "subject_kind": "key" | "target" | "endpoint" | "domain" | "access_token" | "scim_token"; "subject_id": string; "severity": "refuse" | "waits" }

export type AuditEntry = { "id": string; "sequence": number; "at": string; "actor": { "kind": string; "id": string | null; "name": string | null }; "action": string; "subject": { "kind": string; "id": string; "name": string | null }; "detail": Record<string, unknown>; "address": string | null; "request_id": string | null; "hash": string }

export type Call = { "id": string; "at": string; "key_id"?: string; "key_name"?: string; "key_hint"?: string; "target"?: string; "method": string; "path": string; "status": number; "code"?: string; "stopped_at"?: "shape" | "key" | "address" | "browser" | "target" | "rules" | "limits" | "forward"; "rule_id"?: string; "trial_rule_id"?: string; "request_bytes": number; "answer_bytes": number; "duration_ms": number; "upstream_ms"?: number; "address": string; "agent"?: string; "capture"?: Capture }

export type Capture = { "request": CapturedMessage; "answer": CapturedMessage; "redacted"?: (string)[] }

export type CaptureWish = { "headers": (string)[]; "body_bytes": number; "redact"?: (string)[] }

export type CapturedMessage = { "headers": Record<string, string>; "body"?: string; "bytes": number }

export type ConfigurationDifference = { "change": "add" | "change" | "remove"; "subject": string; "fields": ({ "field": string; "before": unknown; "after": unknown })[] }

export type Confirmation = { "nodes": number; "silent_nodes": number; "took_ms": number }

export type Connection = { "id": string; "name": string; "kind": "okta" | "entra" | "google" | "other"; "issuer": string; "client_id": string; "credential": "secret" | "key"; "redirect_uri": string; "initiate_login_uri": string; "backchannel_logout_uri": string; "client_keys_uri": string; "scopes": (string)[]; "claims": { "email": string; "email_verified": string; "name": string; "groups": string; "directory": { "claim": string; "attribute": "externalId" | "userName" } }; "ask_user_info": boolean; "admits_new_people": boolean; "ends_provider_session": boolean; "required_group": string | null; "group_roles": ({ "group": string; "role": "admin" | "developer" | "viewer" })[]; "session_maximum_seconds": number | null; "is_default": boolean; "disabled_at": string | null; "created_at": string; "tested_at": string | null; "last_used_at": string | null; "owners_confirm": boolean; "last_refusal": { "code": string; "sentence": string; "at": string; "by_test": boolean } | null; "version": number }

export type ConnectionDependents = { "people": number; "only_this": number; "owners": number }

export type ConnectionTest = { "id": string; "started_at": string; "finished_at": string | null; "passed": boolean | null; "lines": ({ "step": string; "outcome": "passed" | "failed" | "skipped"; "sentence": string; "code": string | null; "check": string | null })[]; "person": { "subject": string; "email": string | null; "email_verified": boolean; "name": string | null; "groups": (string)[] | null; "directory_value": string | null } | null }

export type CredentialWish = { "header": string; "value": string }

export type Delivery = { "id": string; "endpoint_id": string; "event_id": string; "event_sequence": number; "type": string; "state": "pending" | "held" | "delivered" | "dead" | "skipped"; "due_at": string | null; "attempts": number; "attempts_ever": number; "created_at": string; "completed_at": string | null; "last_attempt_at": string | null; "last_status": number | null; "last_failure": string | null; "skipped_reason": string | null; "operation_id": string | null }

export type DeliveryWithAttempts = { "id": string; "endpoint_id": string; "event_id": string; "event_sequence": number; "type": string; "state": "pending" | "held" | "delivered" | "dead" | "skipped"; "due_at": string | null; "attempts": number; "attempts_ever": number; "created_at": string; "completed_at": string | null; "last_attempt_at": string | null; "last_status": number | null; "last_failure": string | null; "skipped_reason": string | null; "operation_id": string | null; "body": string | null; "attempt_list": (Attempt)[] }

export type DirectoryGroup = { "id": string; "name": string; "external_id": string | null; "role": "admin" | "developer" | "viewer" | null; "members": number; "modified_at": string }

export type DirectoryRequest = { "id": string; "at": string; "method": string; "path": string; "status": number; "scim_type": string | null; "detail": string | null; "sent": string | null; "ignored": (string)[]; "resource_id": string | null; "token_id": string; "duration_ms": number; "address": string | null; "agent": string | null }

export type DirectoryUser = { "id": string; "user_name": string; "name": string | null; "external_id": string | null; "active": boolean; "groups": ({ "id": string; "name": string })[]; "modified_at": string }

export type Discovered = { "issuer": string; "authorization_endpoint": string; "token_endpoint": string; "keys_address": string; "userinfo_endpoint": string | null; "algorithms": (string)[]; "client_authentication": (string)[]; "backchannel_logout": boolean; "scopes": (string)[] | null }

export type Domain = { "id": string; "name": string; "state": "waiting" | "verified" | "lost"; "connection_id": string | null; "record": { "type": string; "name": string; "relative_name": string; "value": string }; "created_at": string; "verified_at": string | null; "verified_by": "dns" | "operator" | null; "lost_at": string | null; "checked_at": string | null; "next_check_at": string | null; "seen": { "kind": string; "sentence": string; "values": (string)[] } | null }

export type Ended = { "sessions": number; "keys": number; "confirmation": Confirmation }

export type Endpoint = { "id": string; "url": string; "description": string; "types": (string)[] | null; "header_names": (string)[]; "rate_per_second": number | null; "ordered": boolean; "public_key": string | null; "state": "active" | "held" | "disabled"; "disabled_reason": string | null; "failures": number; "failing_since": string | null; "last_success_at": string | null; "last_attempt_at": string | null; "held_at": string | null; "probe_at": string | null; "created_at": string; "created_by": string | null; "version": number; "deliveries": EndpointBooks }

export type EndpointBooks = { "committed": number; "delivered": number; "dead": number; "pending": number; "held": number; "skipped": number }

export type EndpointFigures = { "step_ms": number; "points": (EndpointFiguresPoint)[]; "sampled": boolean }

export type EndpointFiguresPoint = { "at": string; "delivered": number; "dead": number; "skipped": number; "waiting": number; "backlog": number; "p50_ms": number | null; "p95_ms": number | null }

export type Event = { "id": string; "type": string; "sequence": number; "body": string }

export type EventType = { "type": string; "description": string; "schema": Record<string, unknown>; "sample": Record<string, unknown> }

export type FirstSteps = { "target": boolean; "key": boolean; "call": boolean; "endpoint": boolean; "invited": boolean }

export type Grant = { "target": string; "methods"?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS")[] }

export type Identity = { "id": string; "provider": string; "issuer": string; "subject": string; "email": string | null; "email_verified": boolean; "name": string | null; "created_at": string; "last_used_at": string | null }

export type Invitation = { "id": string; "email": string; "role": "owner" | "admin" | "developer" | "viewer"; "state": "open" | "accepted" | "revoked" | "expired"; "created_at": string; "created_by": string | null; "expires_at": string; "accepted_at": string | null }

export type InvitationByLink = OwnInvitation & { "company": boolean }

export type KeyCaller = { "address": string; "agent": string | null; "target": string | null; "calls": number; "last_seen_at": string }

export type KeyCallers = { "stragglers": (KeyStraggler)[]; "recent": (KeyCaller)[]; "recent_calls": number }

export type KeyDefaults = { "scheme": "x-api-key" | "bearer"; "expires_after_days": number | null; "cidrs": (string)[] | null }

export type KeyDefaultsWish = { "scheme"?: "x-api-key" | "bearer"; "expires_after_days"?: number | null; "cidrs"?: (string)[] | null }

export type KeySecret = { "hint": string; "created_at": string; "valid_until": string | null; "last_used_at": string | null; "last_used_address": string | null; "last_used_agent": string | null }

export type KeyStraggler = { "hint": string; "address": string; "agent": string | null; "target": string | null; "calls": number; "last_seen_at": string; "first_seen_at": string }

export type Latency = { "p50_ms": number; "p95_ms": number; "p99_ms": number }

export type ManagedThing = { "section": "organization" | "targets" | "endpoints" | "connections" | "domains" | "groups" | "keys"; "name": string; "subject_id": string | null; "label": string; "drifted_at": string | null }

export type Me = { "id": string; "name": string; "email": string | null; "version": number; "session": { "id": string; "provider": string; "signed_in_at": string; "expires_at": string; "fresh": boolean }; "identities": (Identity)[]; "organizations": ({ "id": string; "slug": string; "name": string; "plan": string; "role": "owner" | "admin" | "developer" | "viewer"; "permissions": (string)[]; "sso_required": boolean })[]; "invitations": (OwnInvitation)[]; "providers": (string)[] }

export type Member = { "id": string; "user_id": string; "name": string; "email": string | null; "role": "owner" | "admin" | "developer" | "viewer"; "source": string; "joined_at": string; "last_seen_at": string | null; "deactivated_at": string | null; "version": number }

export type Operation = { "id": string; "kind": string; "state": "running" | "paused" | "cancelled" | "done" | "failed"; "parameters": Record<string, unknown>; "total": number; "done": number; "error": string | null; "created_at": string; "created_by": string | null; "created_by_name": string | null; "updated_at": string; "finished_at": string | null }

export type Organization = { "id": string; "slug": string; "name": string; "plan": string; "created_at": string; "version": number }

export type OrganizationWithSettings = { "id": string; "slug": string; "name": string; "plan": string; "created_at": string; "version": number; "key_defaults": KeyDefaults; "rate_limit": TargetRateLimit | null; "retention": Retention }

export type OwnInvitation = { "id": string; "email": string; "role": "owner" | "admin" | "developer" | "viewer"; "expires_at": string; "organization": { "slug": string; "name": string } }

export type OwnOrganization = Organization & { "role": "owner" | "admin" | "developer" | "viewer" }

export type Quota = { "calls": number; "period": "day" | "month" }

export type QuotaUse = { "quota": { "calls": number; "period": "day" | "month"; "used": number; "resets_at": string } | null }

export type RateLimit = { "calls": number; "per_seconds": number; "burst"?: number }

export type RateShare = { "subject_id": string; "node_id": string; "share": number; "demand": number; "is_short": boolean }

export type RefusedCalls = { "method": string; "path": string; "calls": number; "rule": number | null; "newly": boolean; "last_call_id": string; "last_at": string }

export type Retention = { "calls_seconds": number; "deliveries_seconds": number; "audit_seconds": number }

export type Rollup = { "step_ms": number; "points": (RollupPoint)[]; "refused": { "shape"?: number; "key"?: number; "address"?: number; "browser"?: number; "target"?: number; "rules"?: number; "limits"?: number; "forward"?: number }; "answered": number; "p95_ms"?: number; "latency"?: Latency; "sampled": boolean }

export type RollupPoint = { "at": string; "passed": number; "errors": number; "refused": number; "latency"?: Latency; "upstream_p95_ms"?: number; "own_p95_ms"?: number }

export type Rule = { "id": string; "effect": "allow" | "deny"; "methods": (string)[]; "path": string; "trial": boolean; "calls": number }

export type RulePreview = { "from": string; "calls": number; "refused": number; "newly_refused": number; "newly_allowed": number; "complete": boolean; "otherwise": "allow" | "refuse"; "items": (RefusedCalls)[]; "others": number }

export type RuleWish = { "id"?: string; "effect": "allow" | "deny"; "methods": (string)[]; "path": string; "trial": boolean }

export type ScimToken = { "id": string; "name": string; "hint": string; "created_at": string; "last_used_at": string | null; "last_used_address": string | null; "last_used_agent": string | null; "revoked_at": string | null; "issuer_left": boolean }

export type Session = { "id": string; "provider": string; "address": string | null; "agent": string | null; "started_at": string; "last_seen_at": string; "expires_at": string; "current": boolean }

export type SsoPolicy = { "required": boolean; "break_glass": ({ "user_id": string; "name": string; "email": string | null })[]; "directory_is_on": boolean; "login_uri": string }

export type SsoPreview = { "people": ({ "user_id": string; "name": string; "role": "owner" | "admin" | "developer" | "viewer"; "sessions": number })[]; "sessions": number; "more": boolean }

export type Target = { "id": string; "slug": string; "name": string; "upstream": string; "enabled": boolean; "health": "healthy" | "unhealthy" | "unknown"; "rules": (Rule)[]; "otherwise": "allow" | "refuse"; "otherwise_set": boolean; "credential_header"?: string; "rate_limit"?: TargetRateLimit; "rate_scope": "all" | "node"; "quota"?: TargetQuota; "call_records": string; "assertion": boolean; "verbatim_paths": boolean; "allow_browser": boolean; "timeouts": Timeouts; "body_limit_bytes": number; "answer_headers": (string)[]; "capture": { "headers": (string)[]; "body_bytes": number; "redact": (string)[] }; "ca"?: string; "created_at": string; "calls24h": number; "refused24h": number; "version": number }

export type TargetQuota = { "calls": number; "period": "day" | "month" }

export type TargetRateLimit = { "calls": number; "per_seconds": number; "burst"?: number }

export type TargetTraffic = { "target_id": string; "calls": (number)[]; "failed": (number)[] }

export type Timeouts = { "connect_ms": number; "first_byte_ms": number; "idle_ms": number }

export type TopItem = { "id": string; "name": string | null; "calls": number; "refused": number; "errors": number }

export type TopOfCalls = { "keys": (TopItem)[]; "targets": (TopItem)[]; "codes": (TopItem)[] }

export type Tried = { "allowed": boolean; "status": number; "code"?: string; "detail"?: string; "stopped_at"?: "shape" | "key" | "address" | "browser" | "target" | "rules" | "limits" | "forward"; "rule_id"?: string; "otherwise"?: "allow" | "refuse"; "would_refuse"?: (string)[]; "checks": ({ "check": "shape" | "key" | "address" | "browser" | "target" | "rules" | "limits" | "forward"; "outcome": "passed" | "refused" | "not_reached"; "detail"?: string })[] }

export type WaysIn = { "providers": (string)[]; "company": boolean }

export type WebhookSecrets = { "current": { "secret": string; "hint": string; "created_at": string }; "old": ({ "hint": string; "created_at": string; "valid_until": string })[] }

/** What each operation takes and answers. */
export interface Operations {
  /** The ways to sign in that are set up here. */
  getSignInOptions: { input: Record<string, never>; output: { "providers": (string)[]; "sign_up": string; "base_url": string } }
  /** Whether a setup link still works. */
  lookAtSetupLink: { input: { body: { "token": string } }; output: { "open": boolean } }
  /** Make the first owner and organization with the setup link, and sign in. */
  setUp: { input: { body: { "token": string; "name": string; "email": string; "organization": { "slug": string; "name"?: string; "existing"?: boolean } } }; output: { "user_id": string; "organization": { "id": string; "slug": string } } }
  /** Who is signed in, with organizations, identities and open invitations. */
  getMe: { input: Record<string, never>; output: Me }
  /** Change your own name. */
  updateMe: { input: { body: { "name": string } }; output: { "id": string; "name": string; "version": number } }
  /** The own living sessions, this one marked. */
  listMySessions: { input: Record<string, never>; output: { "items": (Session)[] } }
  /** End every other session of the caller. */
  deleteMySessions: { input: Record<string, never>; output: { "ended": number; "confirmation": Confirmation } }
  /** End one session of the caller. */
  deleteMySession: { input: { session: string }; output: { "ended": number; "confirmation": Confirmation } }
  /** What a proven identity would add, before it is confirmed. */
  lookAtIdentity: { input: { body: { "proof": string } }; output: { "provider": string; "issuer": string; "subject": string; "email": string | null; "name": string | null } }
  /** Add an identity that was proven a moment ago from this session. */
  linkIdentity: { input: { body: { "proof": string } }; output: Identity }
  /** Remove an identity of the caller; every session ends. */
  deleteMyIdentity: { input: { identity: string }; output: undefined }
  /** Join by an invitation for a verified address of the caller. */
  acceptMyInvitation: { input: { invitation: string }; output: { "organization_id": string; "role": "owner" | "admin" | "developer" | "viewer" } }
  /** The organizations of the caller. */
  listOrganizations: { input: Record<string, never>; output: { "items": (OwnOrganization)[] } }
  /** Make an organization and own it (where sign-up is open). */
  createOrganization: { input: { body: { "slug": string; "name"?: string } }; output: Organization }
  /** One organization, the defaults of its keys, its rate, and how long things are kept. */
  getOrganization: { input: { organization: string }; output: OrganizationWithSettings }
  /** Change an organization's name, its rate or the defaults of its keys; what is left out stays. */
  updateOrganization: { input: { organization: string; body?: { "name"?: string; "key_defaults"?: KeyDefaultsWish; "rate_limit"?: TargetRateLimit | null } }; output: OrganizationWithSettings }
  /** Delete an organization; its keys are refused from now on. */
  deleteOrganization: { input: { organization: string; body: { "slug": string } }; output: undefined }
  /** Every organization, by slug. */
  listOperatorOrganizations: { input: { query?: { after?: string; limit?: number } }; output: { "items": (Organization)[]; "next": string | null } }
  /** Make an organization. */
  createOperatorOrganization: { input: { body: { "slug": string; "name"?: string; "plan"?: "standard" | "enterprise" } }; output: Organization }
  /** What an organization may use. */
  setOperatorOrganizationPlan: { input: { organization: string; body: { "plan": "standard" | "enterprise" } }; output: Organization }
  /** Members, oldest first. */
  listMembers: { input: { organization: string; query?: { after?: string; limit?: number; role?: "owner" | "admin" | "developer" | "viewer" } }; output: { "items": (Member)[]; "next": string | null } }
  /** One member. */
  getMember: { input: { organization: string; member: string }; output: Member }
  /** Change a member's role, deactivate or reactivate them; their sessions end. */
  updateMember: { input: { organization: string; member: string; body?: { "role"?: "owner" | "admin" | "developer" | "viewer"; "active"?: boolean } }; output: Member }
  /** Remove a member; every session ends, personal keys are revoked. */
  deleteMember: { input: { organization: string; member: string }; output: Ended }
  /** Living sessions of a member. */
  listMemberSessions: { input: { organization: string; member: string }; output: { "items": (Session)[] } }
  /** End every session of a member. */
  deleteMemberSessions: { input: { organization: string; member: string }; output: Ended }
  /** End one session of a member. */
  deleteMemberSession: { input: { organization: string; member: string; session: string }; output: Ended }
  /** Invitations, newest first. */
  listInvitations: { input: { organization: string; query?: { after?: string; limit?: number } }; output: { "items": (Invitation)[]; "next": string | null } }
  /** Invite an e-mail address; the link is shown once. */
  createInvitation: { input: { organization: string; body: { "email": string; "role": "owner" | "admin" | "developer" | "viewer" } }; output: { "invitation": Invitation; "link": string; "mailed": boolean } }
  /** Withdraw an open invitation. */
  deleteInvitation: { input: { organization: string; invitation: string }; output: undefined }
  /** How somebody invited could sign in: without any of these ways an invitation cannot be accepted. */
  getWaysIn: { input: { organization: string }; output: WaysIn }
  /** What an invitation's link leads to. */
  lookAtInvitation: { input: { body: { "token": string } }; output: InvitationByLink }
  /** Join by an invitation link, with an identity whose provider has verified its address. */
  acceptInvitation: { input: { body: { "token": string } }; output: { "organization_id": string; "role": "owner" | "admin" | "developer" | "viewer" } }
  /** API keys, newest first. */
  listKeys: { input: { organization: string; query?: { after?: string; limit?: number; state?: "active" | "expiring" | "unused" | "expired" | "revoked"; search?: string; created_by?: string } }; output: { "items": (ApiKey)[]; "next": string | null } }
  /** Issue a key; its secret is in this answer and nowhere else. What is left out is the default. */
  issueKey: { input: { organization: string; body: { "name": string; "grants"?: (Grant)[] | null; "cidrs"?: (string)[] | null; "rate_limit"?: RateLimit | null; "quota"?: Quota | null; "expires_at"?: string | null; "scheme"?: "x-api-key" | "bearer"; "personal"?: boolean } }; output: { "key": ApiKey; "secret": string } }
  /** One key. */
  getKey: { input: { organization: string; key: string }; output: ApiKey }
  /** Change what a key may: the whole wish replaces the one before. */
  updateKey: { input: { organization: string; key: string; body: { "name": string; "grants"?: (Grant)[] | null; "cidrs"?: (string)[] | null; "rate_limit"?: RateLimit | null; "quota"?: Quota | null; "expires_at"?: string | null } }; output: ApiKey }
  /** Who calls with a key: the newest 1,000 calls by caller, and who still uses its old secret. */
  getKeyCallers: { input: { organization: string; key: string }; output: KeyCallers }
  /** A new secret; the old one stays valid for the overlap. */
  rotateKey: { input: { organization: string; key: string; body: { "overlap_seconds": number } }; output: { "key": ApiKey; "secret": string; "confirmation": Confirmation } }
  /** End the old secret of a rotation now. */
  endOldSecretOfKey: { input: { organization: string; key: string }; output: { "key": ApiKey; "confirmation": Confirmation } }
  /** Revoke for good; answers when every node refuses the key. */
  revokeKey: { input: { organization: string; key: string }; output: { "key": ApiKey; "confirmation": Confirmation } }
  /** How much of a key's quota is used in this period. */
  getKeyQuota: { input: { organization: string; key: string }; output: QuotaUse }
  /** How much of a target's quota is used in this period. */
  getTargetQuota: { input: { organization: string; target: string }; output: QuotaUse }
  /** Connections, oldest first. */
  listConnections: { input: { organization: string }; output: { "items": (Connection)[] } }
  /** Connect an identity provider; its discovery document is checked first. */
  createConnection: { input: { organization: string; body: { "name"?: string; "scopes"?: (string)[]; "claims"?: { "email"?: string; "email_verified"?: string; "name"?: string; "groups"?: string; "directory"?: { "claim": string; "attribute": "externalId" | "userName" } }; "ask_user_info"?: boolean; "admits_new_people"?: boolean; "ends_provider_session"?: boolean; "required_group"?: string | null; "group_roles"?: ({ "group": string; "role": "admin" | "developer" | "viewer" })[]; "session_maximum_seconds"?: number | null; "client_secret"?: string; "private_key"?: boolean; "kind"?: "okta" | "entra" | "google" | "other"; "issuer": string; "client_id": string; "reservation"?: string } }; output: Connection }
  /** The addresses of a connection that is still to be made, to copy to the provider first. */
  reserveConnection: { input: { organization: string }; output: { "reservation": string; "redirect_uri": string; "initiate_login_uri": string; "backchannel_logout_uri": string; "client_keys_uri": string } }
  /** What an issuer says of itself, before anything is saved. */
  discoverProvider: { input: { organization: string; body: { "issuer": string } }; output: Discovered }
  /** One connection. */
  getConnection: { input: { organization: string; connection: string }; output: Connection }
  /** Change a connection; another issuer or client id needs its credential again. */
  updateConnection: { input: { organization: string; connection: string; body?: { "name"?: string; "scopes"?: (string)[]; "claims"?: { "email"?: string; "email_verified"?: string; "name"?: string; "groups"?: string; "directory"?: { "claim": string; "attribute": "externalId" | "userName" } }; "ask_user_info"?: boolean; "admits_new_people"?: boolean; "ends_provider_session"?: boolean; "required_group"?: string | null; "group_roles"?: ({ "group": string; "role": "admin" | "developer" | "viewer" })[]; "session_maximum_seconds"?: number | null; "client_secret"?: string; "private_key"?: boolean; "issuer"?: string; "client_id"?: string } }; output: Connection }
  /** Delete a connection; sessions through it end. */
  deleteConnection: { input: { organization: string; connection: string }; output: undefined }
  /** Whom the deletion of a connection, or another issuer, would touch. */
  getConnectionDependents: { input: { organization: string; connection: string }; output: ConnectionDependents }
  /** Make it the connection for people who name the organization only. */
  makeConnectionDefault: { input: { organization: string; connection: string }; output: Connection }
  /** Let nobody in through it; its sessions end, sign-ins under way fail. */
  disableConnection: { input: { organization: string; connection: string }; output: Connection }
  /** Let people in through it again. */
  enableConnection: { input: { organization: string; connection: string }; output: Connection }
  /** Begin a test: open the address in a window; nobody is signed in by it. */
  createConnectionTest: { input: { organization: string; connection: string }; output: { "id": string; "address": string } }
  /** A test's result, step by step. */
  getConnectionTest: { input: { organization: string; connection: string; test: string }; output: ConnectionTest }
  /** Domains by name. */
  listDomains: { input: { organization: string }; output: { "items": (Domain)[] } }
  /** Add a domain; it counts once its TXT record is seen. */
  createDomain: { input: { organization: string; body: { "name": string; "connection_id"?: string } }; output: Domain }
  /** One domain. */
  getDomain: { input: { organization: string; domain: string }; output: Domain }
  /** Send people of this domain to another connection. */
  updateDomain: { input: { organization: string; domain: string; body: { "connection_id": string | null } }; output: Domain }
  /** Remove a domain; its addresses are no longer routed. */
  deleteDomain: { input: { organization: string; domain: string }; output: undefined }
  /** Ask the DNS now; the answer says what it saw. */
  checkDomain: { input: { organization: string; domain: string }; output: Domain }
  /** The directory: where it calls, whether it has called. */
  getDirectory: { input: { organization: string }; output: { "base_address": string; "is_on": boolean; "users": number; "groups": number; "tokens_at_most": number; "last_request_at": string | null; "nothing_for_hours": number | null; "kept_owner": { "id": string; "name": string } | null } }
  /** SCIM tokens, newest first, revoked ones too. */
  listDirectoryTokens: { input: { organization: string }; output: { "items": (ScimToken)[] } }
  /** Issue a SCIM token; the secret is in this answer and nowhere else. */
  createDirectoryToken: { input: { organization: string; body: { "name": string } }; output: { "token": ScimToken; "secret": string } }
  /** Revoke a SCIM token: from its next request on it opens nothing. */
  revokeDirectoryToken: { input: { organization: string; token: string }; output: ScimToken }
  /** The last requests of the directory, newest first. */
  listDirectoryRequests: { input: { organization: string; query?: { after?: string; limit?: number; failed?: boolean; resource_id?: string } }; output: { "items": (DirectoryRequest)[]; "next": string | null } }
  /** Users that the directory sent, in the order in which they came. */
  listDirectoryUsers: { input: { organization: string; query?: { after?: string; limit?: number } }; output: { "items": (DirectoryUser)[]; "next": string | null } }
  /** One user as the directory sent it: every attribute that is kept. */
  getDirectoryUser: { input: { organization: string; user: string }; output: { "user": DirectoryUser; "attributes": Record<string, unknown>; "version": number; "created_at": string } }
  /** Identifiers that several users have, so that nobody is found by them. */
  listDirectoryDuplicates: { input: { organization: string }; output: { "items": ({ "kind": "external_id" | "address"; "value": string; "users": (DirectoryUser)[] })[] } }
  /** Groups that the directory sent, and the roles they give. */
  listDirectoryGroups: { input: { organization: string; query?: { after?: string; limit?: number } }; output: { "items": (DirectoryGroup)[]; "next": string | null } }
  /** Map a group to a role, or to none. */
  setDirectoryGroupRole: { input: { organization: string; group: string; body: { "role": "admin" | "developer" | "viewer" | null } }; output: { "group": DirectoryGroup; "changed": number } }
  /** Who would change if a group gave another role; nothing is changed. */
  previewDirectoryGroupRole: { input: { organization: string; group: string; body: { "role": "admin" | "developer" | "viewer" | null } }; output: { "items": ({ "membership_id": string; "name": string; "before": string; "after": string })[] } }
  /** Whether the company sign-in is required, and who is excepted. */
  getSso: { input: { organization: string }; output: SsoPolicy }
  /** Require the company sign-in, or not; at least one owner is excepted. */
  setSso: { input: { organization: string; body: { "required": boolean; "break_glass": (string)[] } }; output: SsoPolicy }
  /** Who would be signed out of the organization if the company sign-in were required. */
  previewSso: { input: { organization: string; body: { "break_glass": (string)[] } }; output: SsoPreview }
  /** Targets by name, with their counts. */
  listTargets: { input: { organization: string }; output: { "items": (Target)[] } }
  /** Add a target: an API to be guarded. */
  createTarget: { input: { organization: string; body: { "name"?: string; "upstream": string; "enabled"?: boolean; "credential"?: CredentialWish | null; "rate_limit"?: TargetRateLimit | null; "rate_scope"?: "all" | "node"; "quota"?: TargetQuota | null; "call_records"?: string | null; "assertion"?: boolean; "verbatim_paths"?: boolean; "allow_browser"?: boolean; "timeouts"?: Timeouts; "body_limit_bytes"?: number; "answer_headers"?: (string)[]; "capture"?: CaptureWish; "rules"?: (RuleWish)[]; "otherwise"?: "allow" | "refuse" | null; "slug": string } }; output: Target }
  /** One target. */
  getTarget: { input: { organization: string; target: string }; output: Target }
  /** Change a target; another upstream origin drops its credential. */
  updateTarget: { input: { organization: string; target: string; body?: { "name"?: string; "upstream"?: string; "enabled"?: boolean; "credential"?: CredentialWish | null; "rate_limit"?: TargetRateLimit | null; "rate_scope"?: "all" | "node"; "quota"?: TargetQuota | null; "call_records"?: string | null; "assertion"?: boolean; "verbatim_paths"?: boolean; "allow_browser"?: boolean; "timeouts"?: Timeouts; "body_limit_bytes"?: number; "answer_headers"?: (string)[]; "capture"?: CaptureWish; "rules"?: (RuleWish)[]; "otherwise"?: "allow" | "refuse" | null } }; output: { "id": string; "slug": string; "name": string; "upstream": string; "enabled": boolean; "health": "healthy" | "unhealthy" | "unknown"; "rules": (Rule)[]; "otherwise": "allow" | "refuse"; "otherwise_set": boolean; "credential_header"?: string; "rate_limit"?: TargetRateLimit; "rate_scope": "all" | "node"; "quota"?: TargetQuota; "call_records": string; "assertion": boolean; "verbatim_paths": boolean; "allow_browser": boolean; "timeouts": Timeouts; "body_limit_bytes": number; "answer_headers": (string)[]; "capture": { "headers": (string)[]; "body_bytes": number; "redact": (string)[] }; "ca"?: string; "created_at": string; "calls24h": number; "refused24h": number; "version": number; "confirmation": Confirmation } }
  /** Remove a target; calls to it find nothing from now on. */
  deleteTarget: { input: { organization: string; target: string }; output: undefined }
  /** Replace the rules: the first that matches decides, then the last line. */
  setTargetRules: { input: { organization: string; target: string; body: { "rules": (RuleWish)[]; "otherwise"?: "allow" | "refuse" | null } }; output: { "id": string; "slug": string; "name": string; "upstream": string; "enabled": boolean; "health": "healthy" | "unhealthy" | "unknown"; "rules": (Rule)[]; "otherwise": "allow" | "refuse"; "otherwise_set": boolean; "credential_header"?: string; "rate_limit"?: TargetRateLimit; "rate_scope": "all" | "node"; "quota"?: TargetQuota; "call_records": string; "assertion": boolean; "verbatim_paths": boolean; "allow_browser": boolean; "timeouts": Timeouts; "body_limit_bytes": number; "answer_headers": (string)[]; "capture": { "headers": (string)[]; "body_bytes": number; "redact": (string)[] }; "ca"?: string; "created_at": string; "calls24h": number; "refused24h": number; "version": number; "confirmation": Confirmation } }
  /** Ask the upstream for its root once, without credential; the answer’s body is not shown. */
  reachTarget: { input: { organization: string; target: string }; output: { "status": number; "took_ms": number } }
  /** What a call would meet: the same checks, nothing sent, counted or recorded. */
  tryTarget: { input: { organization: string; target: string; body: { "key_id"?: string; "method": string; "path": string; "address"?: string; "from_page"?: boolean } }; output: Tried }
  /** Replay the last 24 hours of calls through other rules; nothing is saved. */
  previewTargetRules: { input: { organization: string; target: string; body?: { "rules"?: (RuleWish)[]; "otherwise"?: "allow" | "refuse" | null } }; output: RulePreview }
  /** How nodes share the rates of keys, targets, the organization and SCIM tokens now; empty while one runs alone. */
  listRateShares: { input: { organization: string; query?: { subject?: string } }; output: { "items": (RateShare)[] } }
  /** Calls as they end, as server-sent events; ends with the session. */
  streamCalls: { input: { organization: string }; output: string }
  /** Calls, newest first; `newer` asks for what came after a call. */
  listCalls: { input: { organization: string; query?: { after?: string; limit?: number; newer?: string; q?: string; target?: string; key?: string; stopped_at?: string; outcome?: "answered" | "upstream_error" | "refused"; status?: string; method?: string; path?: string; address?: string; from?: string; to?: string } }; output: { "items": (Call)[]; "next": string | null; "searched_back_to"?: string } }
  /** One call. */
  getCall: { input: { organization: string; call: string }; output: Call }
  /** The keys and targets with the most calls, and the codes with the most refusals. */
  getTopOfCalls: { input: { organization: string; query?: { q?: string; target?: string; key?: string; stopped_at?: string; outcome?: "answered" | "upstream_error" | "refused"; status?: string; method?: string; path?: string; address?: string; from?: string; to?: string; limit?: number } }; output: TopOfCalls }
  /** Calls per step by how they ended, how long they took, and where refused ones stopped. */
  listRollups: { input: { organization: string; query?: { q?: string; target?: string; key?: string; stopped_at?: string; outcome?: "answered" | "upstream_error" | "refused"; status?: string; method?: string; path?: string; address?: string; from?: string; to?: string; step_ms?: number; parts?: boolean } }; output: Rollup }
  /** Calls of each target in each of the last 24 hours, oldest first; targets without calls are left out. */
  listRollupTargets: { input: { organization: string }; output: { "step_ms": number; "items": (TargetTraffic)[] } }
  /** Calls as JSON lines or CSV, newest first, at most 100,000; the export itself is an audit entry. */
  exportCalls: { input: { organization: string; body: { "format": "ndjson" | "csv"; "limit"?: number; "q"?: string; "target"?: string; "key"?: string; "stopped_at"?: string; "outcome"?: "answered" | "upstream_error" | "refused"; "status"?: string; "method"?: string; "path"?: string; "address"?: string; "from"?: string; "to"?: string } }; output: string }
  /** The configuration as a file; secrets by reference, never themselves. */
  getConfiguration: { input: { organization: string }; output: { "file": string; "document": Record<string, unknown> } }
  /** What applying a file would change; nothing is changed. */
  planConfiguration: { input: { organization: string; body: { "file": string; "label": string; "prune"?: boolean; "secrets"?: Record<string, string> } }; output: { "differences": (ConfigurationDifference)[] } }
  /** Make the organization what a file says, all of it or nothing; each change needs the permission that it needs elsewhere. */
  applyConfiguration: { input: { organization: string; body: { "file": string; "label": string; "prune"?: boolean; "secrets"?: Record<string, string> } }; output: { "applied": (ConfigurationDifference)[]; "keys": ({ "name": string; "id": string; "secret": string })[]; "confirmation": Confirmation } }
  /** What files manage here, by section and name. */
  listManagedThings: { input: { organization: string; query?: { after?: string; limit?: number; section?: "organization" | "targets" | "endpoints" | "connections" | "domains" | "groups" | "keys"; ids?: string } }; output: { "items": (ManagedThing)[]; "next": string | null } }
  /** Give a thing that a file manages back to people; the next apply takes it again. */
  takeOver: { input: { organization: string; body: { "section": "organization" | "targets" | "endpoints" | "connections" | "domains" | "groups" | "keys"; "id": string } }; output: undefined }
  /** Access tokens, newest first; revoked and expired ones too. */
  listAccessTokens: { input: { organization: string; query?: { after?: string; limit?: number } }; output: { "items": (AccessToken)[]; "next": string | null } }
  /** Issue an access token; its secret is in this answer and nowhere else. */
  issueAccessToken: { input: { organization: string; body: { "name": string; "permissions"?: ("traffic.see" | "keys.issue" | "keys.manage" | "deliveries.replay" | "targets.manage" | "webhooks.manage" | "members.manage" | "audit.see" | "organization.manage" | "tokens.manage" | "sso.manage" | "owners.manage" | "organization.delete")[]; "cidrs"?: (string)[] | null; "expires_at"?: string | null } }; output: { "access_token": AccessToken; "secret": string } }
  /** One access token. */
  getAccessToken: { input: { organization: string; access_token: string }; output: AccessToken }
  /** Revoke for good; answers when every node refuses the token. */
  revokeAccessToken: { input: { organization: string; access_token: string }; output: { "access_token": AccessToken; "confirmation": Confirmation } }
  /** What waits for a person, the gravest first. */
  getAttention: { input: { organization: string }; output: { "items": (Attention)[] } }
  /** How far a new organization has come. */
  getFirstSteps: { input: { organization: string }; output: FirstSteps }
  /** Audit entries, newest first. */
  listAuditEntries: { input: { organization: string; query?: { after?: string; limit?: number; action?: string; actor_id?: string; subject_id?: string; search?: string; from?: string; until?: string } }; output: { "items": (AuditEntry)[]; "next": string | null } }
  /** Check the chain: a changed, removed or reordered entry shows. */
  getAuditChain: { input: { organization: string }; output: { "intact": boolean; "entries": number; "broken_at": number | null; "reason": string | null; "last_hash": string; "checked_at": string } }
  /** Where the chain ends now, signed: kept elsewhere, `audit verify --against` holds the log to it. */
  getAuditHead: { input: { organization: string }; output: { "organization_id": string; "sequence": number; "hash": string; "seal": string; "at": string } }
  /** Every entry as JSON lines or CSV, oldest first; the export itself is an entry. */
  exportAudit: { input: { organization: string; body: { "format": "ndjson" | "csv"; "action"?: string; "actor_id"?: string; "subject_id"?: string; "search"?: string; "from"?: string; "until"?: string } }; output: string }
  /** Endpoints with their health and their books. */
  listEndpoints: { input: { organization: string }; output: { "items": (Endpoint)[] } }
  /** Add an endpoint. */
  createEndpoint: { input: { organization: string; body: { "url": string; "description"?: string; "types"?: (string)[] | null; "headers"?: Record<string, string>; "rate_per_second"?: number | null; "ordered"?: boolean; "asymmetric"?: boolean } }; output: Endpoint }
  /** One endpoint. */
  getEndpoint: { input: { organization: string; endpoint: string }; output: Endpoint }
  /** Change an endpoint; what is left out stays. Headers do not follow to another origin. */
  updateEndpoint: { input: { organization: string; endpoint: string; body?: { "url"?: string; "description"?: string; "types"?: (string)[] | null; "headers"?: Record<string, string>; "rate_per_second"?: number | null; "ordered"?: boolean; "asymmetric"?: boolean } }; output: Endpoint }
  /** Delete an endpoint; what waits for it becomes skipped deliveries. */
  deleteEndpoint: { input: { organization: string; endpoint: string }; output: undefined }
  /** Switch an endpoint on, from any state. */
  enableEndpoint: { input: { organization: string; endpoint: string }; output: Endpoint }
  /** Switch an endpoint off; its events become skipped deliveries. */
  disableEndpoint: { input: { organization: string; endpoint: string }; output: Endpoint }
  /** Send webhook.ping to this endpoint alone. */
  pingEndpoint: { input: { organization: string; endpoint: string }; output: { "id": string } }
  /** Send the sample of a type to this endpoint alone. */
  sendSampleToEndpoint: { input: { organization: string; endpoint: string; body: { "type": string } }; output: { "id": string } }
  /** Every type of event, with its JSON Schema and a sample. */
  listWebhookTypes: { input: { organization: string }; output: { "items": (EventType)[] } }
  /** The signing secret; seeing it is an audit entry. */
  getWebhookSecret: { input: { organization: string }; output: WebhookSecrets }
  /** A new signing secret; the old one signs beside it for the overlap (0 if it leaked). */
  rotateWebhookSecret: { input: { organization: string; body?: { "overlap_seconds"?: number } }; output: WebhookSecrets }
  /** End the overlap of older secrets now. */
  endOldWebhookSecrets: { input: { organization: string }; output: undefined }
  /** Deliveries of an endpoint per step: by outcome, how long they took, how many waited. */
  listEndpointFigures: { input: { organization: string; endpoint: string; query?: { from?: string; to?: string; step_ms?: number } }; output: EndpointFigures }
  /** Deliveries over all endpoints, newest first. */
  listDeliveries: { input: { organization: string; query?: { after?: string; limit?: number; endpoint?: string; event?: string; state?: "pending" | "held" | "delivered" | "dead" | "skipped" | "retrying" | "missed"; type?: string; from?: string; to?: string } }; output: { "items": (Delivery)[]; "next": string | null } }
  /** One delivery with its bytes and its attempts. */
  getDelivery: { input: { organization: string; delivery: string }; output: DeliveryWithAttempts }
  /** Send one delivery again: the same id, the same bytes. */
  replayDelivery: { input: { organization: string; delivery: string }; output: Delivery }
  /** How many deliveries a replay would send again; nothing is sent. */
  countReplay: { input: { organization: string; body?: { "endpoint"?: string; "event"?: string; "state"?: "pending" | "held" | "delivered" | "dead" | "skipped" | "retrying" | "missed"; "type"?: string; "from"?: string; "to"?: string } }; output: { "deliveries": number } }
  /** Send again everything a filter finds: an operation that can be paused and cancelled. */
  replayDeliveries: { input: { organization: string; body?: { "endpoint"?: string; "event"?: string; "state"?: "pending" | "held" | "delivered" | "dead" | "skipped" | "retrying" | "missed"; "type"?: string; "from"?: string; "to"?: string } }; output: Operation }
  /** Events in their order behind a cursor: for whoever pulls instead of being called. */
  listEvents: { input: { organization: string; query?: { after?: string; limit?: number; types?: (string)[] } }; output: { "items": (Event)[]; "next": string | null; "more": boolean } }
  /** Operations, newest first. */
  listOperations: { input: { organization: string; query?: { after?: string; limit?: number } }; output: { "items": (Operation)[]; "next": string | null } }
  /** One operation. */
  getOperation: { input: { organization: string; operation: string }; output: Operation }
  /** Pause an operation where it is. */
  pauseOperation: { input: { organization: string; operation: string }; output: Operation }
  /** Go on with a paused operation. */
  resumeOperation: { input: { organization: string; operation: string }; output: Operation }
  /** End an operation; what it has done stays done. */
  cancelOperation: { input: { organization: string; operation: string }; output: Operation }
  /** Revoke a leaked API key, SCIM token or access token by presenting it. */
  revokeCredential: { input: { body: { "secret": string } }; output: { "received": boolean } }
}

/** Method, path, and whether it creates something (then it takes an Idempotency-Key). */
export const operations: { readonly [Name in keyof Operations]: readonly [method: string, path: string, isCreation: boolean] } = {
  getSignInOptions: ["GET", "/sign-in-options", false],
  lookAtSetupLink: ["POST", "/setup/look", false],
  setUp: ["POST", "/setup", false],
  getMe: ["GET", "/me", false],
  updateMe: ["PATCH", "/me", false],
  listMySessions: ["GET", "/me/sessions", false],
  deleteMySessions: ["DELETE", "/me/sessions", false],
  deleteMySession: ["DELETE", "/me/sessions/{session}", false],
  lookAtIdentity: ["POST", "/me/identities/look", false],
  linkIdentity: ["POST", "/me/identities", true],
  deleteMyIdentity: ["DELETE", "/me/identities/{identity}", false],
  acceptMyInvitation: ["POST", "/me/invitations/{invitation}/accept", false],
  listOrganizations: ["GET", "/organizations", false],
  createOrganization: ["POST", "/organizations", true],
  getOrganization: ["GET", "/organizations/{organization}", false],
  updateOrganization: ["PATCH", "/organizations/{organization}", false],
  deleteOrganization: ["DELETE", "/organizations/{organization}", false],
  listOperatorOrganizations: ["GET", "/operator/organizations", false],
  createOperatorOrganization: ["POST", "/operator/organizations", true],
  setOperatorOrganizationPlan: ["PUT", "/operator/organizations/{organization}/plan", false],
  listMembers: ["GET", "/organizations/{organization}/members", false],
  getMember: ["GET", "/organizations/{organization}/members/{member}", false],
  updateMember: ["PATCH", "/organizations/{organization}/members/{member}", false],
  deleteMember: ["DELETE", "/organizations/{organization}/members/{member}", false],
  listMemberSessions: ["GET", "/organizations/{organization}/members/{member}/sessions", false],
  deleteMemberSessions: ["DELETE", "/organizations/{organization}/members/{member}/sessions", false],
  deleteMemberSession: ["DELETE", "/organizations/{organization}/members/{member}/sessions/{session}", false],
  listInvitations: ["GET", "/organizations/{organization}/invitations", false],
  createInvitation: ["POST", "/organizations/{organization}/invitations", true],
  deleteInvitation: ["DELETE", "/organizations/{organization}/invitations/{invitation}", false],
  getWaysIn: ["GET", "/organizations/{organization}/invitations/ways-in", false],
  lookAtInvitation: ["POST", "/invitations/look", false],
  acceptInvitation: ["POST", "/invitations/accept", false],
  listKeys: ["GET", "/organizations/{organization}/keys", false],
  issueKey: ["POST", "/organizations/{organization}/keys", true],
  getKey: ["GET", "/organizations/{organization}/keys/{key}", false],
  updateKey: ["PUT", "/organizations/{organization}/keys/{key}", false],
  getKeyCallers: ["GET", "/organizations/{organization}/keys/{key}/callers", false],
  rotateKey: ["POST", "/organizations/{organization}/keys/{key}/rotate", true],
  endOldSecretOfKey: ["POST", "/organizations/{organization}/keys/{key}/end-old-secret", false],
  revokeKey: ["POST", "/organizations/{organization}/keys/{key}/revoke", false],
  getKeyQuota: ["GET", "/organizations/{organization}/keys/{key}/quota", false],
  getTargetQuota: ["GET", "/organizations/{organization}/targets/{target}/quota", false],
  listConnections: ["GET", "/organizations/{organization}/connections", false],
  createConnection: ["POST", "/organizations/{organization}/connections", true],
  reserveConnection: ["POST", "/organizations/{organization}/connections/reservations", true],
  discoverProvider: ["POST", "/organizations/{organization}/connections/discover", false],
  getConnection: ["GET", "/organizations/{organization}/connections/{connection}", false],
  updateConnection: ["PATCH", "/organizations/{organization}/connections/{connection}", false],
  deleteConnection: ["DELETE", "/organizations/{organization}/connections/{connection}", false],
  getConnectionDependents: ["GET", "/organizations/{organization}/connections/{connection}/dependents", false],
  makeConnectionDefault: ["POST", "/organizations/{organization}/connections/{connection}/default", false],
  disableConnection: ["POST", "/organizations/{organization}/connections/{connection}/disable", false],
  enableConnection: ["POST", "/organizations/{organization}/connections/{connection}/enable", false],
  createConnectionTest: ["POST", "/organizations/{organization}/connections/{connection}/tests", true],
  getConnectionTest: ["GET", "/organizations/{organization}/connections/{connection}/tests/{test}", false],
  listDomains: ["GET", "/organizations/{organization}/domains", false],
  createDomain: ["POST", "/organizations/{organization}/domains", true],
  getDomain: ["GET", "/organizations/{organization}/domains/{domain}", false],
  updateDomain: ["PATCH", "/organizations/{organization}/domains/{domain}", false],
  deleteDomain: ["DELETE", "/organizations/{organization}/domains/{domain}", false],
  checkDomain: ["POST", "/organizations/{organization}/domains/{domain}/check", false],
  getDirectory: ["GET", "/organizations/{organization}/directory", false],
  listDirectoryTokens: ["GET", "/organizations/{organization}/directory/tokens", false],
  createDirectoryToken: ["POST", "/organizations/{organization}/directory/tokens", true],
  revokeDirectoryToken: ["POST", "/organizations/{organization}/directory/tokens/{token}/revoke", false],
  listDirectoryRequests: ["GET", "/organizations/{organization}/directory/requests", false],
  listDirectoryUsers: ["GET", "/organizations/{organization}/directory/users", false],
  getDirectoryUser: ["GET", "/organizations/{organization}/directory/users/{user}", false],
  listDirectoryDuplicates: ["GET", "/organizations/{organization}/directory/duplicates", false],
  listDirectoryGroups: ["GET", "/organizations/{organization}/directory/groups", false],
  setDirectoryGroupRole: ["PUT", "/organizations/{organization}/directory/groups/{group}/role", false],
  previewDirectoryGroupRole: ["POST", "/organizations/{organization}/directory/groups/{group}/role/preview", false],
  getSso: ["GET", "/organizations/{organization}/sso", false],
  setSso: ["PUT", "/organizations/{organization}/sso", false],
  previewSso: ["POST", "/organizations/{organization}/sso/preview", false],
  listTargets: ["GET", "/organizations/{organization}/targets", false],
  createTarget: ["POST", "/organizations/{organization}/targets", true],
  getTarget: ["GET", "/organizations/{organization}/targets/{target}", false],
  updateTarget: ["PATCH", "/organizations/{organization}/targets/{target}", false],
  deleteTarget: ["DELETE", "/organizations/{organization}/targets/{target}", false],
  setTargetRules: ["PUT", "/organizations/{organization}/targets/{target}/rules", false],
  reachTarget: ["POST", "/organizations/{organization}/targets/{target}/reach", false],
  tryTarget: ["POST", "/organizations/{organization}/targets/{target}/try", false],
  previewTargetRules: ["POST", "/organizations/{organization}/targets/{target}/rules/preview", false],
  listRateShares: ["GET", "/organizations/{organization}/rate-shares", false],
  streamCalls: ["GET", "/organizations/{organization}/calls/live", false],
  listCalls: ["GET", "/organizations/{organization}/calls", false],
  getCall: ["GET", "/organizations/{organization}/calls/{call}", false],
  getTopOfCalls: ["GET", "/organizations/{organization}/calls/top", false],
  listRollups: ["GET", "/organizations/{organization}/rollups", false],
  listRollupTargets: ["GET", "/organizations/{organization}/rollups/targets", false],
  exportCalls: ["POST", "/organizations/{organization}/calls/export", false],
  getConfiguration: ["GET", "/organizations/{organization}/configuration", false],
  planConfiguration: ["POST", "/organizations/{organization}/configuration/plan", false],
  applyConfiguration: ["POST", "/organizations/{organization}/configuration/apply", true],
  listManagedThings: ["GET", "/organizations/{organization}/configuration/managed", false],
  takeOver: ["POST", "/organizations/{organization}/configuration/take-over", false],
  listAccessTokens: ["GET", "/organizations/{organization}/access-tokens", false],
  issueAccessToken: ["POST", "/organizations/{organization}/access-tokens", true],
  getAccessToken: ["GET", "/organizations/{organization}/access-tokens/{access_token}", false],
  revokeAccessToken: ["POST", "/organizations/{organization}/access-tokens/{access_token}/revoke", false],
  getAttention: ["GET", "/organizations/{organization}/attention", false],
  getFirstSteps: ["GET", "/organizations/{organization}/first-steps", false],
  listAuditEntries: ["GET", "/organizations/{organization}/audit", false],
  getAuditChain: ["GET", "/organizations/{organization}/audit/chain", false],
  getAuditHead: ["GET", "/organizations/{organization}/audit/head", false],
  exportAudit: ["POST", "/organizations/{organization}/audit/export", false],
  listEndpoints: ["GET", "/organizations/{organization}/webhooks/endpoints", false],
  createEndpoint: ["POST", "/organizations/{organization}/webhooks/endpoints", true],
  getEndpoint: ["GET", "/organizations/{organization}/webhooks/endpoints/{endpoint}", false],
  updateEndpoint: ["PATCH", "/organizations/{organization}/webhooks/endpoints/{endpoint}", false],
  deleteEndpoint: ["DELETE", "/organizations/{organization}/webhooks/endpoints/{endpoint}", false],
  enableEndpoint: ["POST", "/organizations/{organization}/webhooks/endpoints/{endpoint}/enable", false],
  disableEndpoint: ["POST", "/organizations/{organization}/webhooks/endpoints/{endpoint}/disable", false],
  pingEndpoint: ["POST", "/organizations/{organization}/webhooks/endpoints/{endpoint}/ping", false],
  sendSampleToEndpoint: ["POST", "/organizations/{organization}/webhooks/endpoints/{endpoint}/sample", false],
  listWebhookTypes: ["GET", "/organizations/{organization}/webhooks/types", false],
  getWebhookSecret: ["GET", "/organizations/{organization}/webhooks/secret", false],
  rotateWebhookSecret: ["POST", "/organizations/{organization}/webhooks/secret/rotate", true],
  endOldWebhookSecrets: ["POST", "/organizations/{organization}/webhooks/secret/end-old", false],
  listEndpointFigures: ["GET", "/organizations/{organization}/webhooks/endpoints/{endpoint}/figures", false],
  listDeliveries: ["GET", "/organizations/{organization}/webhooks/deliveries", false],
  getDelivery: ["GET", "/organizations/{organization}/webhooks/deliveries/{delivery}", false],
  replayDelivery: ["POST", "/organizations/{organization}/webhooks/deliveries/{delivery}/replay", false],
  countReplay: ["POST", "/organizations/{organization}/webhooks/replays/count", false],
  replayDeliveries: ["POST", "/organizations/{organization}/webhooks/replays", false],
  listEvents: ["GET", "/organizations/{organization}/events", false],
  listOperations: ["GET", "/organizations/{organization}/operations", false],
  getOperation: ["GET", "/organizations/{organization}/operations/{operation}", false],
  pauseOperation: ["POST", "/organizations/{organization}/operations/{operation}/pause", false],
  resumeOperation: ["POST", "/organizations/{organization}/operations/{operation}/resume", false],
  cancelOperation: ["POST", "/organizations/{organization}/operations/{operation}/cancel", false],
  revokeCredential: ["POST", "/credentials/revoke", false],
}

