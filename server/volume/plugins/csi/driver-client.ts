/**
 * The drivers a node can talk to. Voldeck registers none: every call that needs one ends with the kubelet's text for a driver that
 * has not registered. Source: pkg/volume/csi/csi_client.go (newCsiDriverClient) of v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import { VolumeError } from "@/server/volume/errors";
import { log } from "@/server/volume/plugins/csi/source";

/** The error of a client for a driver. */
function noDriverClient(driverName: string): VolumeError {
  if (driverName === "") return new VolumeError("driver name is empty");
  return new VolumeError(`driver name ${driverName} not found in the list of registered CSI drivers`);
}

/** An absent driver may come: the error is transient. `step` is the text up to the cause; "" leaves the cause alone. */
export function noDriver(driverName: string, step: string): VolumeError {
  const cause = noDriverClient(driverName);
  const text = step === "" ? messageOf(cause) : log(`${step}: ${messageOf(cause)}`);
  return new VolumeError(text, "transient", cause);
}
