"""The template for AWS is sound, moto makes a stack of it, and a server keeps its data in what the stack made."""

import subprocess
from pathlib import Path
from typing import Any

import botocore.session
import pytest
import yaml
from botocore.config import Config

from satchel.config import Settings
from satchel.kernel.clock import system_clock
from satchel.stores.connect import open_tables
from satchel.tables import SHARED_TABLES
from tests.application import running_satchel
from tests.server.test_running import SECRET
from tests.services import tool
from tests.uploads.given import SENDS, pairs

TEMPLATE = Path(__file__).resolve().parents[2] / "deploy" / "aws.yaml"
PREFIX = "stack-"


def without_redis() -> str:
    """The template but for what moto cannot make: it knows no replication groups of ElastiCache."""
    template = yaml.safe_load(
        TEMPLATE.read_text(encoding="utf-8").replace("${Ephemeral.PrimaryEndPoint.Address}", "redis")
    )
    made = {
        name: each
        for name, each in template["Resources"].items()
        if not each["Type"].startswith("AWS::ElastiCache::") and name != "RedisFills"
    }
    assert len(template["Resources"]) - len(made) == 4
    return yaml.safe_dump({**template, "Resources": made})


def test_cfn_lint_finds_nothing() -> None:
    done = subprocess.run([tool("cfn-lint"), str(TEMPLATE)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_every_table_expires_by_the_attribute_that_it_declares() -> None:
    made = yaml.safe_load(TEMPLATE.read_text(encoding="utf-8"))["Resources"].values()
    tables = [each["Properties"] for each in made if each["Type"] == "AWS::DynamoDB::Table"]
    by_attribute = {each.get("TimeToLiveSpecification", {}).get("AttributeName") for each in tables}
    assert len(tables) == len(SHARED_TABLES)
    assert by_attribute == {spec.expiry for spec in SHARED_TABLES}


@pytest.fixture
def stack(moto_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the stack says that it has made, by the names in the template."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")

    def client(service: str) -> Any:
        session: Any = botocore.session.Session()
        return session.create_client(
            service, region_name="eu-central-1", endpoint_url=moto_endpoint, config=Config(retries={"max_attempts": 1})
        )

    ec2, formation = client("ec2"), client("cloudformation")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n}.0/24", AvailabilityZone=f"eu-central-1{zone}")["Subnet"]
        for n, zone in enumerate("ab")
    ]
    chosen = {
        "Image": "satchel",
        "PublicName": "satchel.example.org",
        "Certificate": client("acm").request_certificate(DomainName="satchel.example.org")["CertificateArn"],
        "Vpc": vpc,
        "VpcRange": "10.0.0.0/16",
        "Subnets": ",".join(subnet["SubnetId"] for subnet in subnets),
        "Prefix": PREFIX,
    }
    formation.create_stack(
        StackName="satchel",
        TemplateBody=without_redis(),
        Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in chosen.items()],
        Capabilities=["CAPABILITY_IAM"],
    )
    [made] = formation.describe_stacks(StackName="satchel")["Stacks"]
    assert made["StackStatus"] == "CREATE_COMPLETE"
    resources = formation.list_stack_resources(StackName="satchel")["StackResourceSummaries"]
    return {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in resources}


@pytest.mark.services
async def test_a_server_keeps_its_data_in_what_the_stack_made(
    stack: dict[str, str], moto_endpoint: str, redis_url: str, tmp_path: Path
) -> None:
    chosen: dict[str, Any] = {
        "table": f"dynamodb://eu-central-1?endpoint={moto_endpoint}",
        "table_prefix": PREFIX,
        "ephemeral": redis_url,
        "objects": f"s3://{stack['Objects']}?endpoint={moto_endpoint}&region=eu-central-1",
        "secret": SECRET,
        "sign_up": "open",
    }
    tables = await open_tables(Settings(data=tmp_path, **chosen), system_clock)
    # moto overlooks expiry in a template; what it made is complete but for that.
    lacking = [each for spec in SHARED_TABLES for each in await tables.missing(spec)]
    assert lacking == [f"expiry of table {spec.name}" for spec in SHARED_TABLES if spec.expiry]
    await tables.create(*SHARED_TABLES)
    await tables.close()
    async with running_satchel(tmp_path / "one", clock=None, **chosen) as satchel:
        ann = satchel.caller()
        assert (await ann.sign_up("ann@example.org")).status_code == 201
        headers = {**SENDS, "upload-length": "5", "upload-metadata": pairs(destination="shelf", filename="a.txt")}
        sent = await ann("POST", "/uploads", headers=headers, content=b"hello")
        became = (await ann("GET", sent.headers["location"].partition("/api/v1")[2])).json()["became"]
        link = await ann("POST", "/links", json={"thing": {"kind": "file", "id": became}})
        assert link.status_code == 201, link.text
        assert (await ann("GET", f"/shelf/files/{became}/content")).content == b"hello"
