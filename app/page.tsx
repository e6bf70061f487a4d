import { FirstCluster } from "@/components/shell/first-cluster";
import { WithToken } from "@/components/shell/with-token";

export default function Page() {
  return (
    <WithToken>
      <FirstCluster />
    </WithToken>
  );
}
