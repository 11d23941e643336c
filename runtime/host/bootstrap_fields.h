// The fields of what travels within messages of several files (runtime/message/fields.h).
#pragma once

#include "runtime/host/bootstrap.h"
#include "runtime/message/fields.h"

namespace sterna {

STERNA_FIELDS(Contact, FIELD(process, Process), FIELD(identity.name, Name),
              FIELD(identity.incarnation, Incarnation), FIELD(control_endpoint, ControlEndpoint),
              FIELD(data_endpoint, DataEndpoint), FIELD(public_key, PublicKey),
              FIELD(token_hash, TokenHash), FIELD(neighbourhood, Neighbourhood))

STERNA_FIELDS(JournalEntry, FIELD(key, Key), FIELD(value, Value))
STERNA_FIELDS(JournalPage, FIELD(entries, Entries))

STERNA_FIELDS(NetworkOptions, FIELD(tcp, Tcp), FIELD(curve, Curve), FIELD(directory, Directory),
              FIELD(bind_address, BindAddress), FIELD(address, Address), FIELD(port_low, PortLow),
              FIELD(port_high, PortHigh), FIELD(near, Near), FIELD(neighbourhood, Neighbourhood))

}  // namespace sterna
