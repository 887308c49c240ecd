/* What the results look like, for the OpenRPC document: beside views.c, which prints them. */
#include "methods/views.h"

static const struct rpc_member share_members[] = {
	{ "container", "string", "Container that gets it." },
	{ "type", "string", "Device type." },
	{ "uuid", "string", "The device." },
	{ "minor", "integer", "Its number on the node." },
	{ "whole", "boolean", "Held alone." },
	{ "resources", "{integer}", "Amounts held; the capacity for a whole device." },
	{ "reuse", "string?", "The container whose device it is: this one takes nothing of its own." },
	{ "claimed", "boolean?", "Handed out by the node agent (or, without one, at bind)." },
	{ 0 },
};
static const struct rpc_type share_type = { "Share", "What one claim holds or is promised on one device.", share_members };

const struct rpc_member allocation_members[] = {
	{ "pod", "Pod", "Whose it is." },
	{ "node", "string", "Where." },
	{ "state", "\"reserved\"|\"bound\"|\"allocated\"|\"releasing\"", "Where in its life." },
	{ "devices", "[Share]", "In claim order, then by minor." },
	{ "created_at", "integer", "Unix ms." },
	{ "state_at", "integer", "When the present state began, Unix ms." },
	{ "expires_at", "integer?", "Of the reservation, or of the lock while bound; Unix ms." },
	{ "token", "integer?", "Lock token it was bound under, kept for life." },
	{ "preempted_by", "string?", "The most important pod whose nomination counts on this one leaving." },
	{ "over", "boolean?", "Forced in by pod.adopt beyond what fits." },
	{ "revision", "integer", "Of its last change." },
	{ "existing", "boolean?", "The answer is a record that was there before." },
	{ 0 },
};
static const struct rpc_type allocation_type = { "Allocation", "What a pod holds.", allocation_members };

const struct rpc_member nomination_members[] = {
	{ "pod", "Pod", "To whom it is promised." },
	{ "node", "string", "Where." },
	{ "devices", "[Share]", "What is promised." },
	{ "victims", "[string]", "Pods that must leave first, by uid." },
	{ "ignored", "[string]?", "Victims named that hold nothing on the node." },
	{ "expires_at", "integer", "Unix ms." },
	{ "revision", "integer", "Of its last change." },
	{ 0 },
};
static const struct rpc_type nomination_type = { "Nomination", "A promise of devices to a pod that waits.", nomination_members };

static const struct rpc_member lock_members[] = {
	{ "node", "string", "The node." },
	{ "uid", "string", "The pod that holds it." },
	{ "token", "integer", "Rises, never used twice." },
	{ "acquired_at", "integer", "Unix ms." },
	{ "expires_at", "integer", "Unix ms." },
	{ 0 },
};
static const struct rpc_type lock_type = { "Lock", "The lock of a node.", lock_members };

static const struct rpc_member node_members[] = {
	{ "node", "string", "Name." },
	{ "cordoned", "boolean", "Nothing new is given out." },
	{ "unverified", "boolean", "Nothing is given out until its agent has reconciled." },
	{ "labels", "{string}", "Labels." },
	{ "reason", "string?", "Given with the last cordon, uncordon or verify." },
	{ "devices", "integer", "Their number." },
	{ "allocations", "integer", "Their number." },
	{ "nominations", "integer", "Their number." },
	{ "lock", "Lock?", "Its lock, when taken." },
	{ "last_seen_at", "integer", "When its agent last spoke, to ten seconds; Unix ms." },
	{ "revision", "integer", "Of its last change." },
	{ 0 },
};
static const struct rpc_type node_type = { "Node", "A node.", node_members };

static const struct rpc_member holder_members[] = {
	{ "uid", "string", "The pod." },
	{ "namespace", "string", "Its namespace." },
	{ "name", "string", "Its name." },
	{ "container", "string", "Container." },
	{ "state", "string", "State of the allocation." },
	{ "whole", "boolean", "Held alone." },
	{ "resources", "{integer}", "Amounts held." },
	{ 0 },
};
static const struct rpc_type holder_type = { "Holder", "Who holds something on a device.", holder_members };

const struct rpc_member device_members[] = {
	{ "node", "string", "Its node." },
	{ "uuid", "string", "The identity." },
	{ "type", "string", "Type." },
	{ "minor", "integer", "Number on the node." },
	{ "model", "string", "Model, \"\" = unknown." },
	{ "healthy", "boolean", "As reported." },
	{ "cordoned", "boolean", "Nothing new is given out." },
	{ "missing", "boolean", "No longer listed by the node; kept because something needs it." },
	{ "reason", "string?", "Given with the last device.update." },
	{ "capacity", "{integer}", "Of each resource." },
	{ "max_shares", "integer", "Claims at a time, 0 = no limit." },
	{ "numa", "integer", "NUMA node, -1 = unknown." },
	{ "socket", "integer", "Socket, -1 = unknown." },
	{ "pcie", "string", "PCIe switch, \"\" = unknown." },
	{ "bus_id", "string", "PCI address, \"\" = unknown." },
	{ "labels", "{string}", "Labels." },
	{ "revision", "integer", "Of its last change." },
	{ "used", "{integer}", "Held of each resource." },
	{ "nominated", "{integer}", "Promised of each resource, to anybody." },
	{ "shares", "integer", "Claims that hold something on it." },
	{ "whole", "boolean", "Held whole." },
	{ "holders", "[Holder]", "By uid." },
	{ 0 },
};
static const struct rpc_type device_type = { "DeviceView", "A device and who holds it.", device_members };

static const struct rpc_member refusal_members[] = {
	{ "pod", "Pod", "Who was refused." },
	{ "reason", "\"insufficient\"|\"failed\"", "Whether it did not fit or the node agent failed it." },
	{ "message", "string?", "What the node agent said." },
	{ "first_at", "integer", "Unix ms." },
	{ "last_at", "integer", "Unix ms." },
	{ "count", "integer", "Refusals since first_at." },
	{ "counts", "{integer}", "Refused nodes by reason, the last time." },
	{ "request", "[Claim]?", "What it asked for." },
	{ "nodes", "[string]", "Some of the nodes, at most 20." },
	{ 0 },
};
static const struct rpc_type refusal_type = { "Refusal", "Why a pod is pending.", refusal_members };

static const struct rpc_member reason_members[] = {
	{ "reason",
		"\"unknown_node\"|\"node_cordoned\"|\"unverified\"|\"no_device\"|\"no_match\"|\"unhealthy\"|\"too_large\"|"
		"\"topology\"|\"nominated\"|\"insufficient\"",
		"The first that applies." },
	{ "claim", "integer", "Index of the claim." },
	{ "type", "string", "Its device type." },
	{ "need", "integer", "Devices needed." },
	{ "have", "integer", "Devices that fit." },
	{ "by", "[string]?", "Pods to whom it is promised." },
	{ "resolvable", "boolean", "Whether time or preemption can mend it." },
	{ 0 },
};
static const struct rpc_type reason_type = { "Reason", "Why a node is refused.", reason_members };

static const struct rpc_member group_members[] = {
	{ "container", "string", "Container." },
	{ "type", "string", "Device type." },
	{ "devices", "[Share]", "Its devices." },
	{ "claimed", "boolean", "Handed out already." },
	{ 0 },
};
static const struct rpc_type group_type = { "Group", "Devices of one (container, type), handed out together.", group_members };

static const struct rpc_member event_members[] = {
	{ "revision", "integer", "Of the change." },
	{ "at", "integer", "Unix ms." },
	{ "kind", "string", "What happened: pod.reserved, node.cordoned ..." },
	{ "node", "string?", "The node concerned." },
	{ "uid", "string?", "The pod concerned." },
	{ "actor", "string", "Who did it." },
	{ "data", "object",
		"The record after the change (for what is gone: as it last was), with reason, cause, by, unclaimed where they "
		"apply; {\"omitted\": true} when one revision is too large for an answer." },
	{ 0 },
};
static const struct rpc_type event_type = { "Event", "Something that happened.", event_members };

static const struct rpc_member lapse_members[] = {
	{ "node", "string", "Where the bind ran out." },
	{ "at", "integer", "When, Unix ms." },
	{ 0 },
};
static const struct rpc_type lapse_type = { "Lapse", "A bind that ran out before anything was handed out.", lapse_members };

static const struct rpc_member conflict_members[] = {
	{ "uid", "string", "The pod." },
	{ "node", "string?", "Where it is recorded; absent when it lapsed here." },
	{ "state", "string", "Its state there, or \"lapsed\"." },
	{ 0 },
};
static const struct rpc_type conflict_type = { "ReconcileConflict", "A pod that should not be on the node.", conflict_members };

static const struct rpc_member suggestion_members[] = {
	{ "action", "\"preempt\"|\"wait\"|\"shrink\"|\"uncordon\"", "What would make it fit." },
	{ "node", "string?", "Where; absent for shrink." },
	{ "victims", "[string]?", "preempt: who would have to leave." },
	{ "for", "[string]|\"lock\"?", "wait: the pods whose leaving to wait for, or the lock of the node." },
	{ "claim", "integer?", "shrink: index of the claim." },
	{ "resource", "string?", "shrink: the resource; absent: the count." },
	{ "to", "integer?", "shrink: the largest that fits; a percentage where the claim asks for one." },
	{ 0 },
};
static const struct rpc_type suggestion_type = { "Suggestion", "The cheapest thing that would make it fit.", suggestion_members };

static const struct rpc_member change_members[] = {
	{ "revision", "integer", "Of the change." },
	{ "at", "integer", "Unix ms." },
	{ "kind", "string", "What happened: pod.reserved, device.updated ..." },
	{ "node", "string?", "The device's node." },
	{ "uid", "string?", "The pod, when one came, went on or left." },
	{ "actor", "string", "Who did it." },
	{ "holders", "[Holder]?", "What that pod holds on the device afterwards; empty when it left." },
	{ "device", "object?", "The device's record afterwards, when it was about itself." },
	{ 0 },
};
static const struct rpc_type change_type = { "DeviceChange", "Something that happened to a device.", change_members };

static const struct rpc_member backup_members[] = {
	{ "name", "string", "Of the file in the backup directory." },
	{ "bytes", "integer", "Its size." },
	{ "sha256", "string?", "Its checksum, hex; absent when the file beside it is." },
	{ "at", "integer", "When it was written, Unix ms." },
	{ 0 },
};
static const struct rpc_type backup_type = { "Backup", "A copy of the database.", backup_members };

const struct rpc_type *const view_types[] = { &share_type, &allocation_type, &nomination_type, &lock_type, &node_type,
	&holder_type, &device_type, &refusal_type, &reason_type, &group_type, &event_type, &lapse_type, &conflict_type,
	&suggestion_type, &backup_type, &change_type };
const size_t n_view_types = sizeof view_types / sizeof view_types[0];
